-- Stores that release 1.0.0 made have imports without run and highest_id, since 001 was changed after that release. Where
-- imports lacks a column, its name in the inner query refers to the values in "absent".
CREATE TABLE imports_complete (
  source     TEXT    PRIMARY KEY,
  run        TEXT    NOT NULL,
  placed     INTEGER NOT NULL,
  highest_id INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

INSERT INTO imports_complete
SELECT found.source, (SELECT run FROM imports WHERE source = found.source), found.placed,
  (SELECT highest_id FROM imports WHERE source = found.source)
FROM (SELECT source, placed FROM imports) AS found CROSS JOIN (SELECT '' AS run, 0 AS highest_id) AS absent;

DROP TABLE imports;
ALTER TABLE imports_complete RENAME TO imports;

-- Ids up to reserved_id are not given to orders; last_id is the last one that is. origin identifies the file, '' until a
-- process has opened it for writing: a copy of the file has another one.
ALTER TABLE store ADD COLUMN reserved_id INTEGER NOT NULL DEFAULT 0;
ALTER TABLE store ADD COLUMN last_id INTEGER NOT NULL DEFAULT 9223372036854775807;
ALTER TABLE store ADD COLUMN origin TEXT NOT NULL DEFAULT '';

-- "restore" leaves it in a database of an earlier release, which has no column for the ids that were given before, and no
-- table for its record: migration 012.
CREATE TABLE IF NOT EXISTS restored (
  reserved_id INTEGER NOT NULL,
  at          INTEGER NOT NULL,
  os_user     TEXT    NOT NULL,
  host        TEXT    NOT NULL,
  what        TEXT    NOT NULL
) STRICT;
UPDATE store SET reserved_id = coalesce((SELECT max(reserved_id) FROM restored), 0);

-- The highest id that is taken or reserved, of those that the store may give.
CREATE VIEW highest_id AS
SELECT max(0, iif(reserved_id <= last_id, reserved_id, 0),
  (SELECT coalesce(max(id), 0) FROM orders WHERE id <= last_id),
  (SELECT coalesce(max(highest_id), 0) FROM imports WHERE highest_id <= last_id)) AS id, last_id
FROM store;

-- A store that begins another history, without knowing which ids the other one has given, leaps to the next multiple of
-- 1,000,000,000, or to the one after if fewer than 100,000,000 ids were skipped: when it gets another id, when its file is a copy or a backup, and when it is taken back after a move.
CREATE TRIGGER leap AFTER UPDATE OF id, origin, moved_to ON store
WHEN OLD.id <> '' AND NEW.id <> '' AND NEW.id <> OLD.id
  OR OLD.origin <> '' AND NEW.origin <> '' AND NEW.origin <> OLD.origin
  OR OLD.origin = '' AND NEW.origin <> '' AND OLD.backup_at IS NOT NULL
  OR OLD.moved_to IS NOT NULL AND NEW.moved_to IS NULL
BEGIN
  UPDATE store SET reserved_id = (SELECT min(last_id,
    iif(id < 9223372035900000000, (id + 100000000) / 1000000000 * 1000000000 + 999999999, 9223372036854775807))
    FROM highest_id);
END;
