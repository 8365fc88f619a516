-- What operators have done by commands. at in milliseconds since the epoch; os_user and host: of the process; what: for people.
CREATE TABLE audit (
  id      INTEGER PRIMARY KEY,
  at      INTEGER NOT NULL,
  command TEXT    NOT NULL,
  os_user TEXT    NOT NULL,
  host    TEXT    NOT NULL,
  what    TEXT    NOT NULL
) STRICT;

-- Revisions that were made by a command, with its record.
CREATE TABLE operator_revisions (
  revision INTEGER PRIMARY KEY,
  audit_id INTEGER NOT NULL
) STRICT;

INSERT INTO audit (at, command, os_user, host, what) SELECT at, 'restore', os_user, host, what FROM restored;
DROP TABLE restored;
