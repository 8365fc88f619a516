-- reference: the name that an integrator has given the order, unique for an API key, and never changed. reference_key: id of that key;
-- NULL for orders of imports, whose references need not be unique.
ALTER TABLE orders ADD COLUMN reference TEXT;
ALTER TABLE orders ADD COLUMN reference_key TEXT;
