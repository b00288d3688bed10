// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkPostgres
package import TidemarkService

extension AdminStore {
    /// Computes the digests of zones that have none, because a server that does not keep them has written there. Each
    /// zone is a transaction of its own, under the zone's lock.
    ///
    /// - Parameter onMended: is called after each zone.
    package func mendDigests(_ onMended: () -> Void) async throws(StorageError) {
        var place: DigestPlace? = DigestPlace(database: DatabaseID(.min), zone: ZoneID(.min))
        while let after = place {
            let zones = try await storage.writeRepeatably(
                sql.digests.unknown((after, Self.zonesOfStep))
            ).rows
            for zone in zones {
                let (_, mended) = try await storage.writeRepeatably(
                    sql.compaction.lockZone((zone.database, zone.zone)), sql.digests.mend(zone))
                if mended.affectedCount > 0 { onMended() }
            }
            place = zones.count == Self.zonesOfStep ? zones.last : nil
        }
    }

    /// How many zones ``mendDigests(_:)`` would mend now.
    package func unknownDigestCount() async throws(StorageError) -> Int {
        var (count, place): (Int, DigestPlace?) = (0, DigestPlace(database: DatabaseID(.min), zone: ZoneID(.min)))
        while let after = place {
            let zones = try await storage.read(sql.digests.unknown((after, Self.zonesOfStep)))
            count += zones.count
            place = zones.count == Self.zonesOfStep ? zones.last : nil
        }
        return count
    }

    private static let zonesOfStep = 500
}

/// A place in the order of all zones.
struct DigestPlace: Sendable {
    let database: DatabaseID
    let zone: ZoneID
}

/// The SQL of ``AdminStore/mendDigests(_:)``.
struct DigestStatements: Sendable {
    let unknown = DeclaredStatement<(after: DigestPlace, zonesMax: Int), DigestPlace>(
        .read, "zones_without_digest",
        """
        SELECT database_id, id FROM zone
         WHERE (database_id, id) > (\(\.after.database), \(\.after.zone)) AND removal IS NULL
           AND digest_number <> change_number
         ORDER BY database_id, id LIMIT \(\.zonesMax)
        """
    ) { row throws(PostgresError) in DigestPlace(database: try row["database_id"], zone: try row["id"]) }

    /// As `VersionDigest` and the migration that added digests do.
    let mend = DeclaredStatement<DigestPlace, Void>(
        .write, "mend_digest",
        """
        UPDATE zone SET record_count = r.record_count, digest_high = r.high, digest_low = r.low,
                        digest_number = change_number
          FROM (SELECT count(*) AS record_count,
                       coalesce(bit_xor(('x' || substr(hash, 1, 16))::bit(64)::bigint), 0) AS high,
                       coalesce(bit_xor(('x' || substr(hash, 17, 16))::bit(64)::bigint), 0) AS low
                  FROM (SELECT encode(sha256(int8send(change_number) || convert_to(name, 'UTF8')), 'hex') AS hash
                          FROM record
                         WHERE database_id = \(\.database) AND zone_id = \(\.zone) AND NOT is_deleted) AS h) AS r
         WHERE database_id = \(\.database) AND id = \(\.zone) AND removal IS NULL AND digest_number <> change_number
        """)
}
