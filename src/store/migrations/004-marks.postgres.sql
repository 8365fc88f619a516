-- Random, of the transaction that made the revision: two histories of one store that reach the same revision differ in it.
-- origin is no longer read; nodes of the release before still write it.
ALTER TABLE store ADD COLUMN mark bigint NOT NULL DEFAULT 0;
ALTER TABLE store ALTER COLUMN origin SET DEFAULT '';
