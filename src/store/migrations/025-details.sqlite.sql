-- A cancelled order can have a reason, a shipped one a tracking number: the line of an event has one of them, without its name (decision 061).
CREATE TRIGGER details_of_new AFTER INSERT ON orders
WHEN NEW.reason IS NOT NULL AND NEW.status <> 'cancelled' OR NEW.tracking_number IS NOT NULL AND NEW.status <> 'shipped'
BEGIN
  SELECT RAISE(ABORT, 'only a cancelled order can have a reason, only a shipped one a tracking number');
END;
CREATE TRIGGER details_of_changed AFTER UPDATE OF status, reason, tracking_number ON orders
WHEN NEW.reason IS NOT NULL AND NEW.status <> 'cancelled' OR NEW.tracking_number IS NOT NULL AND NEW.status <> 'shipped'
BEGIN
  SELECT RAISE(ABORT, 'only a cancelled order can have a reason, only a shipped one a tracking number');
END;
