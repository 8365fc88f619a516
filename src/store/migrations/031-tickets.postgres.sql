-- Finds keys by the tickets of their invitations.
CREATE UNIQUE INDEX api_keys_by_ticket ON api_keys (ticket_digest) WHERE ticket_digest IS NOT NULL;
-- Finds the latest acts of keys that manage keys, which are limited.
CREATE INDEX audit_of_keys ON audit (at) WHERE substr(os_user, 1, 4) = 'key_';
