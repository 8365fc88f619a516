-- What the store is for; NULL until it is first served or written to. An existing store is for what its keys are for.
ALTER TABLE store ADD COLUMN environment text CHECK (environment IN ('production', 'staging'));
UPDATE store SET environment = (SELECT min(environment) FROM api_keys)
WHERE (SELECT count(DISTINCT environment) FROM api_keys) = 1;
