-- Events in the order in which they happened, for the feed of changes.
CREATE INDEX order_events_by_revision ON order_events (revision, order_id);

-- Filters by pet read only the orders of that pet.
CREATE INDEX orders_by_pet ON orders (pet_id, id);

-- scopes: names with spaces between them, NULL for all. cancels_per_hour: NULL for any number.
ALTER TABLE api_keys ADD COLUMN scopes text;
ALTER TABLE api_keys ADD COLUMN cancels_per_hour bigint;

-- Orders placed with an idempotency key: a repetition gets the first outcome. Kept for a day or more.
CREATE TABLE placements (
  key_id          text   NOT NULL,
  idempotency_key text   NOT NULL,
  digest          text   NOT NULL,
  order_id        bigint NOT NULL,
  revision        bigint NOT NULL,
  at              bigint NOT NULL,
  PRIMARY KEY (key_id, idempotency_key)
);

CREATE INDEX placements_by_age ON placements (at);

-- Cancels of keys with a limit, by the end of the second, in seconds since the epoch. Kept for an hour or more.
CREATE TABLE cancel_uses (
  key_id text   NOT NULL,
  second bigint NOT NULL,
  count  bigint NOT NULL,
  PRIMARY KEY (key_id, second)
);

-- Locks out all other writers, then fails like store_orders_expect_unchanged if ids were taken or reserved meanwhile.
CREATE FUNCTION store_orders_claim_ids(known_highest_id bigint) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  PERFORM FROM store FOR UPDATE;
  PERFORM store_orders_expect_unchanged(store_orders_highest_id() = known_highest_id);
END
$$;

-- Last, since it locks the table against the lists of nodes of the release before, for a moment.
-- What the order had before a shipment overwrote it. NULL without a value, and for shipments recorded by the release before.
ALTER TABLE order_events ADD COLUMN ship_date_before bigint;
ALTER TABLE order_events ADD COLUMN complete_before boolean;
