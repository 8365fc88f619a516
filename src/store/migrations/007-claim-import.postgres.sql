-- The highest id that is taken, or reserved by an import; orders without an id are assigned ids above it.
CREATE FUNCTION store_orders_highest_id() RETURNS bigint
LANGUAGE sql STABLE AS $$
  SELECT greatest((SELECT max(id) FROM orders), (SELECT max(highest_id) FROM imports), 0)
$$;

-- Locks out all other writers, then counts the next rows of an import as placed. Fails like
-- store_orders_expect_unchanged if another run has taken the import over, or ids were taken or reserved meanwhile.
-- Volatile: the statements after the lock see everything that was committed before it was granted.
CREATE FUNCTION store_orders_claim_import(import_source text, import_run text, known_highest_id bigint, row_count bigint)
RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  PERFORM FROM store FOR UPDATE;
  PERFORM store_orders_expect_unchanged(store_orders_highest_id() = known_highest_id);
  PERFORM store_orders_expect_unchanged(EXISTS (SELECT FROM store WHERE moved_to IS NULL));
  UPDATE imports SET placed = placed + row_count WHERE source = import_source AND run = import_run;
  PERFORM store_orders_expect_unchanged(FOUND);
END
$$;
