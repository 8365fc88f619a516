-- A limit of placements per key, counted as cancels are.
ALTER TABLE api_keys ADD COLUMN places_per_hour bigint;
CREATE TABLE place_uses (
  key_id text COLLATE "C" NOT NULL,
  second bigint NOT NULL,
  count bigint NOT NULL,
  PRIMARY KEY (key_id, second)
);

-- The URL of a webhook is unique among those of its API key, or of the operators: no key can take the URL of another.
CREATE UNIQUE INDEX webhooks_by_key_and_url ON webhooks (created_by COLLATE "C", url COLLATE "C");
CREATE UNIQUE INDEX webhooks_of_operators_by_url ON webhooks (url COLLATE "C") WHERE created_by IS NULL;
DROP INDEX webhooks_by_url;

-- The chain of the audit records (src/store/tables/audit-chain.ts). Each has the digests of all keys, before and after it.
ALTER TABLE audit ADD COLUMN keys text;
ALTER TABLE audit ADD COLUMN hash bytea;
ALTER TABLE store ADD COLUMN audit_head bytea;
