-- Finished imports stay, so that the same content is not imported twice by mistake. Times in milliseconds since the epoch;
-- finished_at is NULL for one that is not finished. name: of the file; total: its rows; both NULL for imports begun before.
ALTER TABLE imports ADD COLUMN name TEXT;
ALTER TABLE imports ADD COLUMN total INTEGER;
ALTER TABLE imports ADD COLUMN begun_at INTEGER;
ALTER TABLE imports ADD COLUMN finished_at INTEGER;
