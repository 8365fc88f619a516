-- Tells stores apart whose databases have the same address or path: 16 hexadecimal digits, made once and kept by copies, backups and restores.
ALTER TABLE store ADD COLUMN identity text;
UPDATE store SET identity = lower(hex(randomblob(8)));

-- Finds the records of lost changes, and of their acknowledgements (src/store/audit.ts).
CREATE INDEX audit_of_losses ON audit (id) WHERE command IN ('lost changes', 'audit --acknowledge');
