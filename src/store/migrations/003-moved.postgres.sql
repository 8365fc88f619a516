-- The database that "copy" has moved the store to; it is served and written there and no longer here.
ALTER TABLE store ADD COLUMN moved_to text;
