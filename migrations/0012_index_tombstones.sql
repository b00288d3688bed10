-- Finds tombstones by age for `tidemark admin compact` (R-221), and costs living records nothing. Blocks writes of records
-- while it is built.
CREATE INDEX record_tombstone ON record (database_id, zone_id, modified_at) WHERE is_deleted;
