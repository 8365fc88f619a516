-- When a request last came with the key, in milliseconds since the epoch, to the hour or so; NULL: never.
ALTER TABLE api_keys ADD COLUMN last_used_at bigint;
