-- The head of a history (src/orders/heads.ts), on the last event of each revision, and that of the latest revision. NULL until
-- it has been computed from the events.
ALTER TABLE order_events ADD COLUMN head BLOB;
ALTER TABLE store ADD COLUMN head BLOB;
UPDATE store SET head = zeroblob(32) WHERE revision = 0;
