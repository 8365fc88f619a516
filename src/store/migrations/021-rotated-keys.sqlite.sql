-- The secret of a key before its last rotation, as a digest like that of its present one, and when it ends, in milliseconds since the epoch.
ALTER TABLE api_keys ADD COLUMN former_digest BLOB;
ALTER TABLE api_keys ADD COLUMN former_until INTEGER;
CREATE UNIQUE INDEX api_keys_by_former_digest ON api_keys (former_digest) WHERE former_digest IS NOT NULL;
