-- One row: who this store is, how often its orders have changed, how many there are of each status.
-- Every write begins by updating it, so it is what writers queue for; room for many versions of it on
-- one page keeps those updates cheap. origin says which database server's history the row is part of.
CREATE TABLE store (
  only_row  boolean PRIMARY KEY CHECK (only_row),
  id        text    NOT NULL,
  origin    text    NOT NULL,
  revision  bigint  NOT NULL,
  pending   bigint  NOT NULL,
  shipped   bigint  NOT NULL,
  cancelled bigint  NOT NULL
) WITH (fillfactor = 10);

INSERT INTO store VALUES (true, left(replace(gen_random_uuid()::text, '-', ''), 16), '', 0, 0, 0, 0);

-- ship_date in milliseconds since 1970-01-01T00:00:00Z; revision: when the order last changed.
CREATE TABLE orders (
  id        bigint  PRIMARY KEY,
  status    text    NOT NULL CHECK (status IN ('pending', 'shipped', 'cancelled')),
  pet_id    bigint,
  quantity  bigint,
  ship_date bigint,
  complete  boolean,
  revision  bigint  NOT NULL
);

CREATE INDEX orders_by_revision ON orders (revision);

-- at in milliseconds since the epoch; by: the id of the API key, NULL for an operator. Written in one
-- statement with its order, so there is no foreign key: checking it would cost a quarter of all cancels.
CREATE TABLE order_events (
  order_id bigint NOT NULL,
  revision bigint NOT NULL,
  type     text   NOT NULL CHECK (type IN ('placed', 'cancelled', 'shipped')),
  at       bigint NOT NULL,
  by       text,
  PRIMARY KEY (order_id, revision, type)
);

CREATE TABLE pets (
  id   bigint PRIMARY KEY,
  name text,
  tag  text
);

CREATE TABLE api_keys (
  id          text   PRIMARY KEY,
  name        text   NOT NULL,
  environment text   NOT NULL CHECK (environment IN ('production', 'staging')),
  digest      bytea  NOT NULL UNIQUE CHECK (length(digest) = 32),
  created_at  bigint NOT NULL,
  expires_at  bigint,
  revoked_at  bigint
);

-- Imports that have not ended: source is a digest of the content, run who is in turn to go on, placed
-- how many of its rows are in the store by now, highest_id the greatest id that it brings along.
CREATE TABLE imports (
  source     text   PRIMARY KEY,
  run        text   NOT NULL,
  placed     bigint NOT NULL,
  highest_id bigint NOT NULL
);
