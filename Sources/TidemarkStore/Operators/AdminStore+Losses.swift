// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
internal import TidemarkPostgres
package import TidemarkService

/// A number that may take too long to be counted.
package enum CountedNumber: Sendable, Equatable {
    case exactly(Int)
    /// The counting was given up.
    case atLeast(Int)

    /// Exact only if both are.
    package static func + (_ one: CountedNumber, _ other: CountedNumber) -> CountedNumber {
        switch (one, other) {
        case (.exactly(let one), .exactly(let other)): .exactly(one + other)
        default: .atLeast(one.least + other.least)
        }
    }

    /// Nil if it is not known.
    package var exactly: Int? { if case .exactly(let count) = self { count } else { nil } }

    package var least: Int {
        switch self {
        case .exactly(let count), .atLeast(let count): count
        }
    }
}

/// What an operator's command would destroy, in numbers. Nothing is locked, so others may change it meanwhile. What
/// takes too long to be counted is not counted to its end: the command must be possible however large the store is.
extension AdminStore {
    /// What a zone holds.
    package struct ZoneContent: Sendable, Equatable {
        package let recordCount: CountedNumber
        package let byteCount: Int64
        package let participantCount: Int
    }

    /// Nil if there is no such zone. Participants are those who share it now, without its owner.
    package func content(of key: ZoneKey) async throws(StorageError) -> ZoneContent? {
        guard let row = try await storage.read(sql.losses.zoneContent(key)).first else { return nil }
        var steps = Self.countStepsMax
        let count =
            if let known = row.recordCount {
                CountedNumber.exactly(Int(known))
            } else {
                try await countRecords(of: row.zone, in: key.database, &steps)
            }
        return ZoneContent(
            recordCount: count, byteCount: row.byteCount, participantCount: row.participantCount)
    }

    /// Living records in living zones of some databases.
    package func recordCount(in databases: [DatabaseID]) async throws(StorageError) -> CountedNumber {
        var (count, steps) = (CountedNumber.exactly(0), Self.countStepsMax)
        for database in databases {
            let sum = try await unlessTooSlow { () async throws(StorageError) in
                try await storage.read(sql.losses.knownCounts(database)).first ?? 0
            }
            guard let sum else {
                count = count + .atLeast(0)
                continue
            }
            count = count + .exactly(Int(sum))
            var last: ZoneID? = ZoneID(.min)
            while let after = last {
                let zones = try await storage.read(sql.losses.uncounted((database, after, Self.zonesOfStep)))
                for zone in zones { count = count + (try await countRecords(of: zone, in: database, &steps)) }
                last = zones.count == Self.zonesOfStep && steps > 0 ? zones.last : nil
                if zones.count == Self.zonesOfStep, last == nil { count = count + .atLeast(0) }
            }
        }
        return count
    }

    /// How many accounts and devices there are; nil: it takes too long to count.
    package func accountAndDeviceCounts() async throws(StorageError) -> (accounts: Int, devices: Int)? {
        try await unlessTooSlow { () async throws(StorageError) in
            try await storage.read(sql.losses.everybody()).first ?? (0, 0)
        }
    }

    /// How many living records of others in a zone go with these, because they refer to them with the action delete. What
    /// refers to those in turn is not counted.
    package func dependentCount(
        of names: [String], in zone: ZoneState, besides user: UserID
    ) async throws(StorageError) -> Int {
        try await storage.read(sql.losses.dependents((zone.key.database, zone.id, names, user))).first ?? 0
    }

    private static let zonesOfStep = 500
    /// Steps of one count that are taken at most: for some millions of records.
    static let countStepsMax = 50

    /// - Parameter steps: those that are left.
    private func countRecords(
        of zone: ZoneID, in database: DatabaseID, _ steps: inout Int
    ) async throws(StorageError) -> CountedNumber {
        var (count, place): (Int, String?) = (0, "")
        while let after = place {
            guard steps > 0 else { return .atLeast(count) }
            steps -= 1
            let row = try await unlessTooSlow { () async throws(StorageError) in
                try await storage.read(sql.zones.countRecords((database, zone, after, Self.countedAtOnce))).first
            }
            guard let row else { return .atLeast(count) }
            count += row?.living ?? 0
            place = row?.last
        }
        return .exactly(count)
    }

    /// - Returns: nil if a statement took too long.
    func unlessTooSlow<Value: Sendable>(
        _ body: () async throws(StorageError) -> Value
    ) async throws(StorageError) -> Value? {
        do throws(StorageError) {
            return try await body()
        } catch {
            guard error.code == .tooSlow else { throw error }
            return nil
        }
    }
}

/// A zone, as ``LossStatements/zoneContent`` reads it.
struct ZoneContentRow: Sendable {
    let zone: ZoneID
    let byteCount: Int64
    /// Nil: an older server has written in the zone, so it is not known.
    let recordCount: Int64?
    let participantCount: Int
}

/// The SQL that counts what a command would destroy.
struct LossStatements: Sendable {
    let zoneContent = DeclaredStatement<ZoneKey, ZoneContentRow>(
        .read, "loss_zone_content",
        """
        SELECT z.id, z.byte_count, CASE WHEN z.digest_number = z.change_number THEN z.record_count END AS records,
               (SELECT count(*) FROM share s
                  JOIN share_participant p ON p.database_id = s.database_id AND p.zone_id = s.zone_id
                                          AND p.share_number = s.number
                 WHERE s.database_id = z.database_id AND s.zone_id = z.id AND s.ended_number IS NULL
                   AND p.status = 2) AS participants
          FROM zone z
         WHERE z.database_id = \(\.database) AND z.name = \(\.name) AND z.removal IS NULL
        """
    ) { row throws(PostgresError) in
        ZoneContentRow(
            zone: try row["id"], byteCount: try row["byte_count"], recordCount: try row["records"],
            participantCount: try row["participants"])
    }

    /// The records of zones whose number of records is known.
    let knownCounts = DeclaredStatement<DatabaseID, Int64>(
        .read, "loss_known_counts",
        """
        SELECT coalesce(sum(record_count), 0)::bigint FROM zone
         WHERE database_id = \(\.self) AND removal IS NULL AND digest_number = change_number
        """)

    /// The others, by age.
    let uncounted = DeclaredStatement<(database: DatabaseID, after: ZoneID, zonesMax: Int), ZoneID>(
        .read, "loss_uncounted_zones",
        """
        SELECT id FROM zone
         WHERE database_id = \(\.database) AND id > \(\.after) AND removal IS NULL AND digest_number <> change_number
         ORDER BY id LIMIT \(\.zonesMax)
        """)

    let everybody = DeclaredStatement<Void, (accounts: Int, devices: Int)>(
        .read, "loss_everybody",
        """
        SELECT (SELECT count(*) FROM account WHERE deleted_at IS NULL) AS accounts,
               (SELECT count(*) FROM device) AS devices
        """
    ) { row throws(PostgresError) in (try row["accounts"], try row["devices"]) }

    let dependents = DeclaredStatement<(database: DatabaseID, zone: ZoneID, names: [String], user: UserID), Int>(
        .read, "loss_dependents",
        """
        SELECT count(DISTINCT f.holder) FROM record_reference f
          JOIN record r ON r.database_id = f.database_id AND r.zone_id = f.zone_id AND r.name = f.holder
         WHERE f.database_id = \(\.database) AND f.zone_id = \(\.zone) AND f.target = ANY (\(\.names))
           AND NOT r.is_deleted AND r.created_by <> \(\.user)
        """)
}
