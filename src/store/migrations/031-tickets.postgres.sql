-- Finds keys by the tickets of their invitations.
CREATE UNIQUE INDEX api_keys_by_ticket ON api_keys (ticket_digest) WHERE ticket_digest IS NOT NULL;
