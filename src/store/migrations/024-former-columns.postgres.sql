-- Drops what only nodes of builds before the references (014) read: the id of a store, and the mark of a revision. Such nodes, if some still run,
-- are no longer ready from here on. without_references also refuses every write that without_head refused. It stays, with chained_revision and
-- orders_by_reference, which nodes of the betas use: docs/decisions/060-what-is-dropped-when.md.
DROP TRIGGER without_head ON store;
DROP TRIGGER leap ON store;
ALTER TABLE store DROP COLUMN id, DROP COLUMN mark;

-- As in 010, without the id.
CREATE TRIGGER leap BEFORE UPDATE OF origin, moved_to ON store
FOR EACH ROW WHEN (OLD.origin <> '' AND NEW.origin <> '' AND NEW.origin <> OLD.origin
  OR OLD.moved_to IS NOT NULL AND NEW.moved_to IS NULL)
EXECUTE FUNCTION store_orders_leap();
