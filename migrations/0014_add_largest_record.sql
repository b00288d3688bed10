-- The most bytes of fields that a record of the zone ever had: where it is small, pages of changes need not count bytes.
-- Reads every record once and updates every zone: on a large store do it at a quiet hour.
ALTER TABLE zone ADD COLUMN largest_record bigint NOT NULL DEFAULT 0;

UPDATE zone SET largest_record = largest
  FROM (SELECT database_id, zone_id, max(byte_count) AS largest FROM record GROUP BY database_id, zone_id) AS r
 WHERE zone.database_id = r.database_id AND zone.id = r.zone_id;
