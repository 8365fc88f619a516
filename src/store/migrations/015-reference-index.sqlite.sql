-- Refuses a second order with a reference of an API key, and finds orders by reference. Rows without a key do not conflict.
CREATE UNIQUE INDEX orders_by_reference ON orders (reference, reference_key) WHERE reference IS NOT NULL;
