-- moved_to: the database that "copy" has moved the store to; it is served and written there and no longer here.
-- backup_at: when this backup was made, in milliseconds since the epoch; NULL for a store that is no backup, or no longer.
ALTER TABLE store ADD COLUMN moved_to TEXT;
ALTER TABLE store ADD COLUMN backup_at INTEGER;
