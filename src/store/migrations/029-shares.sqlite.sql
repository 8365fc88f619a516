-- A limit of placements per key, counted as cancels are.
ALTER TABLE api_keys ADD COLUMN places_per_hour INTEGER;
CREATE TABLE place_uses (
  key_id TEXT    NOT NULL,
  second INTEGER NOT NULL,
  count  INTEGER NOT NULL,
  PRIMARY KEY (key_id, second)
) STRICT, WITHOUT ROWID;

-- The URL of a webhook is unique among those of its API key, or of the operators: no key can take the URL of another. A constraint cannot be dropped.
CREATE TABLE new_webhooks (
  id              TEXT    NOT NULL PRIMARY KEY,
  url             TEXT    NOT NULL,
  description     TEXT,
  -- Separated by spaces; NULL for all.
  events          TEXT,
  pet_ids         TEXT,
  created_at      INTEGER NOT NULL,
  created_by      TEXT,
  -- The secret is derived from the webhook key of this name, the id and the generation.
  key_name        TEXT    NOT NULL,
  generation      INTEGER NOT NULL,
  rotated_at      INTEGER,
  -- Increases when position or filter are set.
  version         INTEGER NOT NULL,
  position        TEXT    NOT NULL,
  examined        TEXT,
  sending_to      TEXT,
  failures        INTEGER NOT NULL,
  failing_since   INTEGER,
  next_attempt_at INTEGER,
  paused_for      TEXT,
  last_success_at INTEGER,
  last_failure_at INTEGER,
  last_status     INTEGER,
  last_problem    TEXT
) STRICT, WITHOUT ROWID;
INSERT INTO new_webhooks SELECT * FROM webhooks;
DROP TABLE webhooks;
ALTER TABLE new_webhooks RENAME TO webhooks;
CREATE UNIQUE INDEX webhooks_by_key_and_url ON webhooks (created_by, url);
CREATE UNIQUE INDEX webhooks_of_operators_by_url ON webhooks (url) WHERE created_by IS NULL;

-- The chain of the audit records (src/store/tables/audit-chain.ts). Each has the digests of all keys, before and after it.
ALTER TABLE audit ADD COLUMN keys TEXT;
ALTER TABLE audit ADD COLUMN hash BLOB;
ALTER TABLE store ADD COLUMN audit_head BLOB;
