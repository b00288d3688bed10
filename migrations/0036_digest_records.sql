-- Computes the digests of zones (0036) whose records were there before. Reads every living record once and updates every living
-- zone. Reads go on, but writes wait meanwhile: on a large store do it at a quiet hour.
LOCK TABLE zone IN EXCLUSIVE MODE;

UPDATE zone SET record_count = coalesce(r.record_count, 0), digest_high = coalesce(r.digest_high, 0),
                digest_low = coalesce(r.digest_low, 0), digest_number = z.change_number
  FROM zone z
  LEFT JOIN (SELECT h.database_id, h.zone_id, count(*) AS record_count,
                    bit_xor(('x' || substr(h.hash, 1, 16))::bit(64)::bigint) AS digest_high,
                    bit_xor(('x' || substr(h.hash, 17, 16))::bit(64)::bigint) AS digest_low
               FROM (SELECT database_id, zone_id,
                            encode(sha256(int8send(change_number) || convert_to(name, 'UTF8')), 'hex') AS hash
                       FROM record WHERE NOT is_deleted) AS h
              GROUP BY h.database_id, h.zone_id) AS r
    ON r.database_id = z.database_id AND r.zone_id = z.id
 WHERE zone.database_id = z.database_id AND zone.id = z.id AND z.removal IS NULL AND z.change_number > 0;
