-- The head of a history (src/orders/heads.ts), on the last event of each revision, and that of the latest revision. NULL until
-- it has been computed from the events.
ALTER TABLE store ADD COLUMN head bytea;
UPDATE store SET head = decode(repeat('00', 32), 'hex') WHERE revision = 0;

-- Nodes of earlier releases, which do not continue the heads, can write until the heads of all events have been computed.
CREATE FUNCTION store_orders_refuse_without_head() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'a newer release has migrated the schema; use that release';
END
$$;

CREATE TRIGGER without_head BEFORE UPDATE OF revision ON store
FOR EACH ROW WHEN (OLD.head IS NOT NULL AND NEW.revision > OLD.revision AND NEW.head = OLD.head)
EXECUTE FUNCTION store_orders_refuse_without_head();

-- Last, since it locks the table against the lists of nodes of the release before, for a moment.
ALTER TABLE order_events ADD COLUMN head bytea;
