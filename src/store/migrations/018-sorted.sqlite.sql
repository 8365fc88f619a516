-- Orders by ship date; those without one are the last. Neither a cancel nor another change of the status writes to it.
CREATE INDEX orders_by_ship_date ON orders (coalesce(ship_date, 9223372036854775807), id);

-- Orders by the time at which they were placed, which is that of their first event.
CREATE INDEX order_events_placed ON order_events (at, order_id) WHERE type = 'placed';
