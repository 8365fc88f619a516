-- Ids up to reserved_id are not given to orders; last_id is the last one that is. origin, used again, identifies the server,
-- the database and the table, '' until a process has written to it: a restored copy has another one.
ALTER TABLE store ADD COLUMN reserved_id bigint NOT NULL DEFAULT 0;
ALTER TABLE store ADD COLUMN last_id bigint NOT NULL DEFAULT 9223372036854775807;
UPDATE store SET origin = '';

-- The highest id that is taken or reserved, of those that the store may give.
CREATE OR REPLACE FUNCTION store_orders_highest_id() RETURNS bigint
LANGUAGE sql STABLE AS $$
  SELECT greatest(0, CASE WHEN reserved_id <= last_id THEN reserved_id END,
    (SELECT max(id) FROM orders WHERE id <= last_id),
    (SELECT max(highest_id) FROM imports WHERE highest_id <= last_id))
  FROM store
$$;

CREATE FUNCTION store_orders_leap() RETURNS trigger
LANGUAGE plpgsql AS $$
DECLARE
  highest bigint = store_orders_highest_id();
BEGIN
  NEW.reserved_id = least(NEW.last_id, CASE WHEN highest < 9223372035900000000
    THEN (highest + 100000000) / 1000000000 * 1000000000 + 999999999 ELSE 9223372036854775807 END);
  RETURN NEW;
END
$$;

-- A store that begins another history, without knowing which ids the other one has given, leaps to the next multiple of
-- 1,000,000,000, or to the one after if fewer than 100,000,000 ids were skipped: when it gets another id, when it is in another database, and when it is taken back after a move.
CREATE TRIGGER leap BEFORE UPDATE OF id, origin, moved_to ON store
FOR EACH ROW WHEN (OLD.id <> '' AND NEW.id <> '' AND NEW.id <> OLD.id
  OR OLD.origin <> '' AND NEW.origin <> '' AND NEW.origin <> OLD.origin
  OR OLD.moved_to IS NOT NULL AND NEW.moved_to IS NULL)
EXECUTE FUNCTION store_orders_leap();
