-- Endpoints to which changes are sent. Times are in milliseconds since the epoch, positions in the feed are REVISION-HEAD.
CREATE TABLE webhooks (
  id              TEXT    NOT NULL PRIMARY KEY,
  url             TEXT    NOT NULL UNIQUE,
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

-- The node that sends the deliveries, and until when by the clock of the database.
CREATE TABLE webhook_lease (
  only_row   INTEGER NOT NULL PRIMARY KEY CHECK (only_row = 1),
  holder     TEXT    NOT NULL,
  held_until INTEGER NOT NULL
) STRICT;
INSERT INTO webhook_lease VALUES (1, '', 0);
