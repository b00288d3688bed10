-- The tombstones of a zone: their names and 128 bytes each. A database with a quota is bounded by it in them too (R-755).
-- Reads every tombstone once and updates every zone that has one; all that needs zones waits meanwhile, so on a large store do
-- it at a quiet hour. Start the new servers at once, because older ones do not count.
ALTER TABLE zone ADD COLUMN tombstone_byte_count bigint NOT NULL DEFAULT 0;

UPDATE zone SET tombstone_byte_count = r.byte_count
  FROM (SELECT database_id, zone_id, sum(octet_length(name) + 128) AS byte_count
          FROM record WHERE is_deleted GROUP BY database_id, zone_id) AS r
 WHERE zone.database_id = r.database_id AND zone.id = r.zone_id;
