-- Quotas count living records with their names, types and parents' names and 128 bytes each (R-011), no longer their fields
-- alone: otherwise records without fields take room for nothing. Reads every living record once and updates every zone that has
-- one. Writes wait meanwhile, so on a large store do it at a quiet hour. Start the new servers at once, because older ones
-- count what they write as before.
LOCK TABLE zone IN EXCLUSIVE MODE;

UPDATE zone SET byte_count = r.byte_count
  FROM (SELECT database_id, zone_id,
               sum(byte_count + octet_length(name) + octet_length(type) + coalesce(octet_length(parent), 0) + 128) AS byte_count
          FROM record WHERE NOT is_deleted GROUP BY database_id, zone_id) AS r
 WHERE zone.database_id = r.database_id AND zone.id = r.zone_id;
