-- Finds text by its bytes, whatever the collation of the database: when a library that sorts (glibc, ICU) changes, the rows of an index are in the order
-- of the former one, look-ups miss, and a repeated placement places again. Columns keep their collation, since a statement that a running node has
-- prepared fails for ever once the type of its result has changed; so these indexes take the place of the keys. The keys of order_events and of
-- store_orders_migrations stay: docs/decisions/062-text-keys-by-bytes.md.
CREATE UNIQUE INDEX orders_by_key_and_reference_text ON orders (reference_key COLLATE "C", reference COLLATE "C") WHERE reference_key IS NOT NULL;
CREATE UNIQUE INDEX placements_by_key ON placements (key_id COLLATE "C", idempotency_key COLLATE "C");
CREATE UNIQUE INDEX changed_all_by_key ON changed_all (key_id COLLATE "C", idempotency_key COLLATE "C");
CREATE UNIQUE INDEX cancel_uses_by_key ON cancel_uses (key_id COLLATE "C", second);
CREATE UNIQUE INDEX api_keys_by_id ON api_keys (id COLLATE "C");
CREATE UNIQUE INDEX imports_by_source ON imports (source COLLATE "C");
CREATE UNIQUE INDEX webhooks_by_id ON webhooks (id COLLATE "C");
CREATE UNIQUE INDEX webhooks_by_url ON webhooks (url COLLATE "C");

-- First, as every writer: otherwise two that wait for each other could both fail.
LOCK TABLE store IN SHARE ROW EXCLUSIVE MODE;
LOCK TABLE orders IN ACCESS EXCLUSIVE MODE;
DROP INDEX orders_by_key_and_reference;
DROP INDEX orders_by_reference;
ALTER TABLE placements DROP CONSTRAINT placements_pkey;
ALTER TABLE changed_all DROP CONSTRAINT changed_all_pkey;
ALTER TABLE cancel_uses DROP CONSTRAINT cancel_uses_pkey;
ALTER TABLE api_keys DROP CONSTRAINT api_keys_pkey;
ALTER TABLE imports DROP CONSTRAINT imports_pkey;
ALTER TABLE webhooks DROP CONSTRAINT webhooks_pkey, DROP CONSTRAINT webhooks_url_key;
