-- What the order had before a shipment overwrote it. NULL without a value, and for shipments recorded before this migration.
ALTER TABLE order_events ADD COLUMN ship_date_before INTEGER;
ALTER TABLE order_events ADD COLUMN complete_before INTEGER;

-- Filters by pet read only the orders of that pet. A cancel changes neither column.
CREATE INDEX orders_by_pet ON orders (pet_id);

-- scopes: names with spaces between them, NULL for all. cancels_per_hour: NULL for any number.
ALTER TABLE api_keys ADD COLUMN scopes TEXT;
ALTER TABLE api_keys ADD COLUMN cancels_per_hour INTEGER;

-- Orders placed with an idempotency key: a repetition gets the first outcome. Kept for a day or more.
CREATE TABLE placements (
  key_id          TEXT    NOT NULL,
  idempotency_key TEXT    NOT NULL,
  digest          TEXT    NOT NULL,
  order_id        INTEGER NOT NULL,
  revision        INTEGER NOT NULL,
  at              INTEGER NOT NULL,
  PRIMARY KEY (key_id, idempotency_key)
) STRICT, WITHOUT ROWID;

CREATE INDEX placements_by_age ON placements (at);

-- Cancels of keys with a limit, by the end of the second, in seconds since the epoch. Kept for an hour or more.
CREATE TABLE cancel_uses (
  key_id TEXT    NOT NULL,
  second INTEGER NOT NULL,
  count  INTEGER NOT NULL,
  PRIMARY KEY (key_id, second)
) STRICT, WITHOUT ROWID;
