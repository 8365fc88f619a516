-- Finds orders by the first characters of their references, sorted by code points, whatever the collation of the database. Nodes of the release before use
-- orders_by_reference for whole references.
CREATE INDEX orders_by_reference_text ON orders (reference COLLATE "C", id) WHERE reference IS NOT NULL;
