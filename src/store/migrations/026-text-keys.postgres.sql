-- Finds text by its bytes, whatever the collation of the database: when a library that sorts (glibc, ICU) changes, the rows of an index are in the order
-- of the former one, look-ups miss, and a repeated placement places again. The key of order_events stays: its three types sort alike everywhere
-- (docs/decisions/062-text-keys-by-bytes.md).
CREATE UNIQUE INDEX orders_by_key_and_reference_text ON orders (reference_key COLLATE "C", reference COLLATE "C") WHERE reference_key IS NOT NULL;
CREATE UNIQUE INDEX placements_by_key ON placements (key_id COLLATE "C", idempotency_key COLLATE "C");

LOCK TABLE orders IN ACCESS EXCLUSIVE MODE;
DROP INDEX orders_by_key_and_reference;
DROP INDEX orders_by_reference;

-- A column that has the collation of its index keeps the index; the others are small, and their indexes are built here.
ALTER TABLE placements DROP CONSTRAINT placements_pkey;
ALTER TABLE placements ALTER COLUMN key_id TYPE text COLLATE "C", ALTER COLUMN idempotency_key TYPE text COLLATE "C";
ALTER TABLE placements ADD CONSTRAINT placements_pkey PRIMARY KEY USING INDEX placements_by_key;
ALTER TABLE api_keys ALTER COLUMN id TYPE text COLLATE "C";
ALTER TABLE cancel_uses ALTER COLUMN key_id TYPE text COLLATE "C";
ALTER TABLE changed_all ALTER COLUMN key_id TYPE text COLLATE "C", ALTER COLUMN idempotency_key TYPE text COLLATE "C";
ALTER TABLE imports ALTER COLUMN source TYPE text COLLATE "C";
ALTER TABLE webhooks ALTER COLUMN id TYPE text COLLATE "C", ALTER COLUMN url TYPE text COLLATE "C";
ALTER TABLE store_orders_migrations ALTER COLUMN name TYPE text COLLATE "C";
