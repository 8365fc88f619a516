-- The secret of a key before its last rotation, as a digest like that of its present one, and when it ends, in milliseconds since the epoch.
ALTER TABLE api_keys ADD COLUMN former_digest BLOB;
ALTER TABLE api_keys ADD COLUMN former_until INTEGER;
