-- Why an order was cancelled, and the carrier's number of a shipment. Lines of the history have them only where there are any, so no head changes.
ALTER TABLE orders ADD COLUMN reason TEXT;
ALTER TABLE orders ADD COLUMN tracking_number TEXT;
