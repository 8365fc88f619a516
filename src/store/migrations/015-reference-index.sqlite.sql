-- Refuses a second order with a reference of an API key.
CREATE UNIQUE INDEX orders_by_key_and_reference ON orders (reference_key, reference) WHERE reference_key IS NOT NULL;

-- Finds orders by reference, in the order of their ids.
CREATE INDEX orders_by_reference ON orders (reference, id) WHERE reference IS NOT NULL;
