-- Drops what only builds before the references (014) read: the id of a store, and the mark of a revision.
DROP TRIGGER leap;
ALTER TABLE store DROP COLUMN id;
ALTER TABLE store DROP COLUMN mark;

-- As in 010, without the id.
CREATE TRIGGER leap AFTER UPDATE OF origin, moved_to ON store
WHEN OLD.origin <> '' AND NEW.origin <> '' AND NEW.origin <> OLD.origin
  OR OLD.origin = '' AND NEW.origin <> '' AND OLD.backup_at IS NOT NULL
  OR OLD.moved_to IS NOT NULL AND NEW.moved_to IS NULL
BEGIN
  UPDATE store SET reserved_id = (SELECT min(last_id,
    iif(id < 9223372035900000000, (id + 100000000) / 1000000000 * 1000000000 + 999999999, 9223372036854775807))
    FROM highest_id);
END;
