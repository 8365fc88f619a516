-- reference: the name that an integrator has given the order, unique for an API key, and never changed. reference_key: id of that key;
-- NULL for orders of imports, whose references need not be unique.
ALTER TABLE orders ADD COLUMN reference text;
ALTER TABLE orders ADD COLUMN reference_key text;

-- The revision that a node which knows references has written last. Other nodes, which would leave them out of the heads, are refused once
-- the heads of all events have been computed.
ALTER TABLE store ADD COLUMN chained_revision bigint NOT NULL DEFAULT 0;

CREATE TRIGGER without_references BEFORE UPDATE OF revision ON store
FOR EACH ROW WHEN (OLD.head IS NOT NULL AND NEW.revision > OLD.revision AND NEW.chained_revision <> NEW.revision)
EXECUTE FUNCTION store_orders_refuse_without_head();
