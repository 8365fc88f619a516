-- Events in the order in which they happened: they are only ever added at the end, and what changed after
-- a revision is read off them, so that a cancel writes two pages of its own and not four.
-- previous: the revision of the order's event before this one, 0 for the first; it leads from an order's
-- latest event, which has the order's revision, to all of them. Written in one transaction with its order,
-- so there is no foreign key.
CREATE TABLE events_by_revision (
  revision INTEGER NOT NULL,
  order_id INTEGER NOT NULL,
  type     TEXT    NOT NULL CHECK (type IN ('placed', 'cancelled', 'shipped')),
  at       INTEGER NOT NULL,
  by       TEXT,
  previous INTEGER NOT NULL,
  PRIMARY KEY (revision, order_id, type)
) STRICT, WITHOUT ROWID;

INSERT INTO events_by_revision
SELECT revision, order_id, type, at, by, coalesce(
  (SELECT max(earlier.revision) FROM order_events AS earlier
   WHERE earlier.order_id = event.order_id AND earlier.revision < event.revision), 0)
FROM order_events AS event
ORDER BY revision, order_id, type;

DROP TABLE order_events;
DROP INDEX orders_by_revision;
ALTER TABLE events_by_revision RENAME TO order_events;
