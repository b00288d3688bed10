-- What the databases of a container may hold (R-011), and what they hold: counted by whoever writes, in the same transaction
-- (R-706). Reads every living record and every asset once and updates every zone: on a large store do it at a quiet hour, and
-- start the new servers at once, because older ones do not count what they write.
ALTER TABLE container
    ADD COLUMN private_quota_bytes bigint CHECK (private_quota_bytes >= 0), -- of each private database; null: no quota
    ADD COLUMN public_quota_bytes  bigint CHECK (public_quota_bytes >= 0);

-- The fields of the zone's living records.
ALTER TABLE zone ADD COLUMN byte_count bigint NOT NULL DEFAULT 0;

UPDATE zone SET byte_count = r.byte_count
  FROM (SELECT database_id, zone_id, sum(byte_count) AS byte_count
          FROM record WHERE NOT is_deleted GROUP BY database_id, zone_id) AS r
 WHERE zone.database_id = r.database_id AND zone.id = r.zone_id;

-- The assets of a database; one that never had any has no row. Apart from the database's row, which is locked before zones:
-- this one is locked last of all, so that nobody waits for each other in a circle.
CREATE TABLE asset_total (
    database_id bigint PRIMARY KEY,
    byte_count  bigint NOT NULL
) WITH (fillfactor = 50);

INSERT INTO asset_total (database_id, byte_count)
SELECT database_id, sum(byte_count) FROM asset GROUP BY database_id;
