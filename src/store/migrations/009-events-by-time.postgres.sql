-- Events by their time, to count those of a day: clocks of nodes differ, and clocks are corrected, so revisions do not tell.
CREATE INDEX order_events_by_time ON order_events (at, revision, order_id);
