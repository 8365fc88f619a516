-- One row: who this store is, how often its orders have changed, how many there are of each status.
CREATE TABLE store (
  only_row  INTEGER PRIMARY KEY CHECK (only_row = 1),
  id        TEXT    NOT NULL,
  revision  INTEGER NOT NULL,
  pending   INTEGER NOT NULL,
  shipped   INTEGER NOT NULL,
  cancelled INTEGER NOT NULL
) STRICT;

INSERT INTO store VALUES (1, lower(hex(randomblob(8))), 0, 0, 0, 0);

-- ship_date in milliseconds since 1970-01-01T00:00:00Z; revision: when the order last changed.
CREATE TABLE orders (
  id        INTEGER PRIMARY KEY,
  status    TEXT    NOT NULL CHECK (status IN ('pending', 'shipped', 'cancelled')),
  pet_id    INTEGER,
  quantity  INTEGER,
  ship_date INTEGER,
  complete  INTEGER CHECK (complete IN (0, 1)),
  revision  INTEGER NOT NULL
) STRICT;

CREATE INDEX orders_by_revision ON orders (revision);

-- at in milliseconds since the epoch; by: the id of the API key, NULL for an operator.
CREATE TABLE order_events (
  order_id INTEGER NOT NULL REFERENCES orders (id),
  revision INTEGER NOT NULL,
  type     TEXT    NOT NULL CHECK (type IN ('placed', 'cancelled', 'shipped')),
  at       INTEGER NOT NULL,
  by       TEXT,
  PRIMARY KEY (order_id, revision, type)
) STRICT, WITHOUT ROWID;

CREATE TABLE pets (
  id   INTEGER PRIMARY KEY,
  name TEXT,
  tag  TEXT
) STRICT;

CREATE TABLE api_keys (
  id          TEXT    PRIMARY KEY,
  name        TEXT    NOT NULL,
  environment TEXT    NOT NULL CHECK (environment IN ('production', 'staging')),
  digest      BLOB    NOT NULL UNIQUE CHECK (length(digest) = 32),
  created_at  INTEGER NOT NULL,
  expires_at  INTEGER,
  revoked_at  INTEGER
) STRICT, WITHOUT ROWID;

-- Imports that have not ended: source is a digest of the content, run who is in turn to go on, placed
-- how many of its rows are in the store by now, highest_id the greatest id that it brings along.
CREATE TABLE imports (
  source     TEXT    PRIMARY KEY,
  run        TEXT    NOT NULL,
  placed     INTEGER NOT NULL,
  highest_id INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
