-- A reason is of a cancelled order, a tracking number of a shipped one: the line of an event has one of them, without its name (decision 061).
-- Only the updates of all columns and new orders are compared, so that a cancel without a reason costs nothing more.
CREATE TRIGGER details_of_new AFTER INSERT ON orders
WHEN NEW.reason IS NOT NULL AND NEW.status <> 'cancelled' OR NEW.tracking_number IS NOT NULL AND NEW.status <> 'shipped'
BEGIN
  SELECT RAISE(ABORT, 'a reason is of a cancelled order, a tracking number of a shipped one');
END;
CREATE TRIGGER details_of_changed AFTER UPDATE OF reason, tracking_number ON orders
WHEN NEW.reason IS NOT NULL AND NEW.status <> 'cancelled' OR NEW.tracking_number IS NOT NULL AND NEW.status <> 'shipped'
BEGIN
  SELECT RAISE(ABORT, 'a reason is of a cancelled order, a tracking number of a shipped one');
END;
