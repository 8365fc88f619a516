-- What operators have done by commands. at in milliseconds since the epoch; os_user and host: of the process; what: for people.
CREATE TABLE audit (
  id      bigint PRIMARY KEY,
  at      bigint NOT NULL,
  command text   NOT NULL,
  os_user text   NOT NULL,
  host    text   NOT NULL,
  what    text   NOT NULL
);

-- Revisions that were made by a command, with its record.
CREATE TABLE operator_revisions (
  revision bigint PRIMARY KEY,
  audit_id bigint NOT NULL
);
