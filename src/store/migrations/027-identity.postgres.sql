-- Tells stores apart whose databases have the same address or path: 16 hexadecimal digits, made once and kept by copies, backups and restores.
ALTER TABLE store ADD COLUMN identity text;
UPDATE store SET identity = left(replace(gen_random_uuid()::text, '-', ''), 16);
