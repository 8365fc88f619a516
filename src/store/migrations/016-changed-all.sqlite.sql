-- Commands for several orders with an idempotency key: a repetition gets the first results, a JSON array of their names. Kept for a
-- day or more.
CREATE TABLE changed_all (
  key_id          TEXT    NOT NULL,
  idempotency_key TEXT    NOT NULL,
  digest          TEXT    NOT NULL,
  results         TEXT    NOT NULL,
  at              INTEGER NOT NULL,
  PRIMARY KEY (key_id, idempotency_key)
) STRICT, WITHOUT ROWID;

CREATE INDEX changed_all_by_age ON changed_all (at);
