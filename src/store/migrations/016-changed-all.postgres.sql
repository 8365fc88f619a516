-- Commands for several orders with an idempotency key: a repetition gets the first results, a JSON array of their names. Kept for a
-- day or more.
CREATE TABLE changed_all (
  key_id          text   NOT NULL,
  idempotency_key text   NOT NULL,
  digest          text   NOT NULL,
  results         text   NOT NULL,
  at              bigint NOT NULL,
  PRIMARY KEY (key_id, idempotency_key)
);

CREATE INDEX changed_all_by_age ON changed_all (at);
