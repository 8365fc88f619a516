-- When v1's list was last sent, in milliseconds since the epoch, to the hour; NULL: never. A service that starts reads the list ahead only if it is
-- in use.
ALTER TABLE store ADD COLUMN listed_at bigint;
