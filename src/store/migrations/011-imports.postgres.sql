-- Finished imports stay, so that the same content is not imported twice by mistake. Times in milliseconds since the epoch;
-- finished_at is NULL for one that is not finished. name: of the file; total: its rows; both NULL for imports begun before.
ALTER TABLE imports ADD COLUMN name text;
ALTER TABLE imports ADD COLUMN total bigint;
ALTER TABLE imports ADD COLUMN begun_at bigint;
ALTER TABLE imports ADD COLUMN finished_at bigint;
