-- A publication of all tables (a change feed to a warehouse, an upgrade by logical replication) refuses updates and deletes of tables without a primary
-- key: placements, and the revocation of keys, would fail. The indexes of 026 take this place of the primary keys, too.
ALTER TABLE placements REPLICA IDENTITY USING INDEX placements_by_key;
ALTER TABLE changed_all REPLICA IDENTITY USING INDEX changed_all_by_key;
ALTER TABLE cancel_uses REPLICA IDENTITY USING INDEX cancel_uses_by_key;
ALTER TABLE api_keys REPLICA IDENTITY USING INDEX api_keys_by_id;
ALTER TABLE imports REPLICA IDENTITY USING INDEX imports_by_source;
ALTER TABLE webhooks REPLICA IDENTITY USING INDEX webhooks_by_id;
