-- Finds keys by the secret before their last rotation.
CREATE UNIQUE INDEX api_keys_by_former_digest ON api_keys (former_digest) WHERE former_digest IS NOT NULL;
