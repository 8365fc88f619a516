-- Keys that keys have created, invitations, and the use of former secrets. A ticket is stored by its digest, as a secret is.
ALTER TABLE api_keys ADD COLUMN created_by text;
ALTER TABLE api_keys ADD COLUMN secret_by text;
ALTER TABLE api_keys ADD COLUMN former_used_at bigint;
ALTER TABLE api_keys ADD COLUMN ticket_digest bytea;
ALTER TABLE api_keys ADD COLUMN ticket_until bigint;
