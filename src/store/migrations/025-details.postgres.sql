-- A cancelled order can have a reason, a shipped one a tracking number: the line of an event has one of them, without its name (decision 061).
-- NOT VALID, since reading all rows under the lock would stop writers: "check" reads them.
ALTER TABLE orders ADD CONSTRAINT orders_details
  CHECK ((reason IS NULL OR status = 'cancelled') AND (tracking_number IS NULL OR status = 'shipped')) NOT VALID;
