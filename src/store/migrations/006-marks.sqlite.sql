-- Random, of the transaction that made the revision: two histories of one store that reach the same revision differ in it.
ALTER TABLE store ADD COLUMN mark INTEGER NOT NULL DEFAULT 0;
