-- A store gets its id when it is first served, and a backup has none: a backup that is restored twice is two
-- stores, whose lists differ under the same revisions. Backups of earlier releases have an id, and lose it here.
UPDATE store SET id = '';
