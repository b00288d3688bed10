// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
internal import TidemarkPostgres
package import TidemarkService

/// Counts over many zones, in steps that are short however much there is.
extension AdminStore {
    /// What a compaction would forget.
    package struct CompactionLoss: Sendable, Equatable {
        package let records: CountedNumber
        package let zones: CountedNumber
    }

    /// At most what ``compact(before:)`` removes: zones whose records have not been cleared yet stay.
    package func compactable(before: Timestamp) async throws(StorageError) -> CompactionLoss {
        CompactionLoss(
            records: try await oldTombstones(before: before), zones: try await oldEnds(before: before))
    }

    private func oldTombstones(before: Timestamp) async throws(StorageError) -> CountedNumber {
        var (count, steps) = (CountedNumber.exactly(0), Self.countStepsMax)
        var place: (database: DatabaseID, zone: ZoneID)? = (DatabaseID(.min), ZoneID(.min))
        while let after = place {
            guard steps > 0 else { return count + .atLeast(0) }
            steps -= 1
            let zones = try await unlessTooSlow { () async throws(StorageError) in
                try await storage.read(
                    sql.steps.oldTombstones(
                        (after.database, after.zone, before, Self.tombstonesAtOnce, Self.zonesAtOnce)))
            }
            guard let zones else { return count + .atLeast(0) }
            for zone in zones {
                count =
                    if zone.count < Self.tombstonesAtOnce {
                        count + .exactly(zone.count)
                    } else {
                        count + (try await oldTombstones(of: zone, before: before, &steps))
                    }
            }
            place = zones.count == Self.zonesAtOnce ? zones.last.map { ($0.database, $0.zone) } : nil
        }
        return count
    }

    /// Of one zone that has many.
    private func oldTombstones(
        of zone: TombstonesRow, before: Timestamp, _ steps: inout Int
    ) async throws(StorageError) -> CountedNumber {
        guard steps > 0 else { return .atLeast(zone.count) }
        steps -= 1
        let count = try await unlessTooSlow { () async throws(StorageError) in
            try await storage.read(
                sql.steps.oldTombstonesOfZone((zone.database, zone.zone, before, Self.tombstonesOfZoneMax))
            ).first
        }
        guard let count = count ?? nil else { return .atLeast(zone.count) }
        return count < Self.tombstonesOfZoneMax ? .exactly(count) : .atLeast(count)
    }

    private func oldEnds(before: Timestamp) async throws(StorageError) -> CountedNumber {
        var (count, place): (Int, EndedZonePlace?) = (0, EndedZonePlace.first)
        for _ in 0..<Self.countStepsMax {
            guard let after = place else { return .exactly(count) }
            let row = try await unlessTooSlow { () async throws(StorageError) in
                try await storage.read(
                    sql.steps.oldEnds((after.database, after.name, after.zone, before, Self.endsAtOnce)))
            }
            guard let rows = row else { return .atLeast(count) }
            count += rows.count { $0.isOld }
            place = rows.count == Self.endsAtOnce ? rows.last?.place : nil
        }
        return place == nil ? .exactly(count) : .atLeast(count)
    }

    /// How many zones of an account have encrypted values, in all containers.
    package func keyedZoneCount(of account: AccountID) async throws(StorageError) -> CountedNumber {
        var (count, steps) = (0, Self.countStepsMax)
        for user in try await users(of: account) {
            var place: ZoneID? = ZoneID(.min)
            while let after = place {
                guard steps > 0 else { return .atLeast(count) }
                steps -= 1
                let row = try await unlessTooSlow { () async throws(StorageError) in
                    try await storage.read(
                        sql.steps.keyedZones((user.privateDatabase, after, Self.keyedZonesAtOnce))
                    ).first
                }
                guard let row else { return .atLeast(count) }
                count += row?.living ?? 0
                place = row?.last
            }
        }
        return .exactly(count)
    }

    private static let zonesAtOnce = 500
    /// Of each zone of a step.
    private static let tombstonesAtOnce = 1_000
    private static let tombstonesOfZoneMax = 200_000
    private static let endsAtOnce = 5_000
    private static let keyedZonesAtOnce = 2_000
}

/// How many old tombstones a zone has, up to a bound.
struct TombstonesRow: Sendable {
    let database: DatabaseID
    let zone: ZoneID
    let count: Int
}

/// Where a step over ended zones begins.
struct EndedZonePlace: Sendable {
    let database: DatabaseID
    let name: String
    let zone: ZoneID

    static let first = EndedZonePlace(database: DatabaseID(.min), name: "", zone: ZoneID(.min))
}

/// The SQL of one step of a count.
struct StepCountStatements: Sendable {
    /// Living zones that follow a place, each with its old tombstones, but for those beyond a bound.
    let oldTombstones = DeclaredStatement<
        (database: DatabaseID, zone: ZoneID, before: Timestamp, tombstonesMax: Int, zonesMax: Int), TombstonesRow
    >(
        .read, "count_old_tombstones",
        """
        SELECT z.database_id, z.id, r.old_count
          FROM (SELECT database_id, id FROM zone
                 WHERE (database_id, id) > (\(\.database), \(\.zone)) AND removal IS NULL
                 ORDER BY database_id, id LIMIT \(\.zonesMax)) AS z
         CROSS JOIN LATERAL (
               SELECT count(*) AS old_count
                 FROM (SELECT 1 FROM record
                        WHERE database_id = z.database_id AND zone_id = z.id AND is_deleted
                          AND modified_at < \(\.before)
                        ORDER BY modified_at LIMIT \(\.tombstonesMax)) AS t) AS r
         ORDER BY z.database_id, z.id
        """
    ) { row throws(PostgresError) in
        TombstonesRow(database: try row["database_id"], zone: try row["id"], count: try row["old_count"])
    }

    let oldTombstonesOfZone = DeclaredStatement<
        (database: DatabaseID, zone: ZoneID, before: Timestamp, countMax: Int), Int
    >(
        .read, "count_old_tombstones_of_zone",
        """
        SELECT count(*)
          FROM (SELECT 1 FROM record
                 WHERE database_id = \(\.database) AND zone_id = \(\.zone) AND is_deleted
                   AND modified_at < \(\.before)
                 ORDER BY modified_at LIMIT \(\.countMax)) AS t
        """)

    /// Ended zones that follow a place, with whether their ends are old.
    let oldEnds = DeclaredStatement<
        (database: DatabaseID, name: String, zone: ZoneID, before: Timestamp, zonesMax: Int),
        (place: EndedZonePlace, isOld: Bool)
    >(
        .read, "count_old_ends",
        """
        SELECT database_id, name, id, coalesce(removed_at < \(\.before), false) AS is_old FROM zone
         WHERE (database_id, name, id) > (\(\.database), \(\.name), \(\.zone)) AND removal IS NOT NULL
         ORDER BY database_id, name, id LIMIT \(\.zonesMax)
        """
    ) { row throws(PostgresError) in
        (
            EndedZonePlace(database: try row["database_id"], name: try row["name"], zone: try row["id"]),
            try row["is_old"]
        )
    }

    /// Of zones with keys that follow a place: how many live, and the last one if there may be more.
    let keyedZones = DeclaredStatement<
        (database: DatabaseID, after: ZoneID, zonesMax: Int), (living: Int, last: ZoneID?)
    >(
        .read, "count_keyed_zones",
        """
        SELECT count(*) FILTER (WHERE EXISTS (
                   SELECT FROM zone z
                    WHERE z.database_id = \(\.database) AND z.id = k.zone_id AND z.removal IS NULL)) AS living,
               CASE WHEN count(*) = \(\.zonesMax) THEN max(k.zone_id) END AS last
          FROM (SELECT DISTINCT zone_id FROM zone_key
                 WHERE database_id = \(\.database) AND zone_id > \(\.after)
                 ORDER BY zone_id LIMIT \(\.zonesMax)) AS k
        """
    ) { row throws(PostgresError) in (try row["living"], try row["last"]) }
}
