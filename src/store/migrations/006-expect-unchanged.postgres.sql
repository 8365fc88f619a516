-- Undoes the transaction of a write, by an error with a SQLSTATE of our own, when what it was decided on has changed.
CREATE FUNCTION store_orders_expect_unchanged(is_unchanged boolean) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  IF is_unchanged IS NOT TRUE THEN
    RAISE EXCEPTION 'another writer was faster' USING ERRCODE = 'SO001';
  END IF;
END
$$;
