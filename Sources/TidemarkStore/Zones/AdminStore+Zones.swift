// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
internal import TidemarkPostgres
package import TidemarkService

extension AdminStore {
    /// One incarnation of a zone.
    package struct Zone: Sendable {
        package let name: String
        package let createdAt: Timestamp
        package let changeNumber: ChangeNumber
        package let removal: ZoneRemovalReason?
        package let removedAt: Timestamp?
    }

    /// What an operator sees of a living zone, without its records.
    package struct ZoneDetails: Sendable {
        package let id: ZoneID
        package let createdAt: Timestamp
        /// The head of its feed: the number of its newest change.
        package let changeNumber: ChangeNumber
        /// Change tokens below it are expired.
        package let oldestTokenNumber: ChangeNumber
        /// As quotas count them.
        package let recordBytes: Int64
        package let tombstoneBytes: Int64
        package let largestRecordBytes: Int64
        package let encryptionScope: ZoneEncryptionScope
        /// The change up to which the database's feed has told of the zone; nil: it has not told of it.
        package let seenByFeed: ChangeNumber?
        package let keyCount: Int
        package let shareCount: Int
        /// Of those, who have accepted.
        package let participantCount: Int
        /// Zone subscriptions of its owner.
        package let subscriptionCount: Int
        package let clientTokenCount: Int
    }

    /// Living zones by age, a page at a time.
    package func livingZones(
        in database: DatabaseID, after: ZoneID?, zonesMax: Int
    ) async throws(StorageError) -> [ZoneState] {
        try await storage.zones(in: database, after: after, zonesMax: zonesMax)
    }

    /// The zone of a container's public database; nil if nobody has used it yet.
    package func publicZone(of key: ContainerKey) async throws(StorageError) -> ZoneState? {
        let found = try await storage.read(sql.accounts.publicDatabase(key)).first
        guard let database = found?.database else { return nil }
        return try await storage.zones(named: [ZoneName.default], in: database).first
    }

    /// Nil if there is no such zone.
    package func details(of zone: ZoneKey) async throws(StorageError) -> ZoneDetails? {
        try await storage.read(sql.zones.details(zone)).first
    }

    /// Counts a zone's records and tombstones, in steps: there may be very many, and a statement has its time.
    package func recordCounts(
        of zone: ZoneID, in database: DatabaseID
    ) async throws(StorageError) -> (living: Int, deleted: Int) {
        var (living, deleted) = (0, 0)
        var place: String? = ""
        while let after = place {
            let rows = try await storage.read(sql.zones.countRecords((database, zone, after, Self.countedAtOnce)))
            guard let counted = rows.first else { break }
            living += counted.living
            deleted += counted.deleted
            place = counted.last
        }
        return (living, deleted)
    }

    static let countedAtOnce = 100_000

    /// Every incarnation that the store still knows, by name and age.
    package func zones(in database: DatabaseID) async throws(StorageError) -> [Zone] {
        try await storage.read(sql.zones.history(database))
    }

    /// Ends a zone for another reason than its user's request, and tells every device of the user.
    ///
    /// - Returns: false if there is no such zone, or it is the default zone.
    /// - Throws: `zoneBusy` if a request holds the zone for too long.
    package func endZone(_ key: ZoneKey, reason: ZoneRemovalReason) async throws(StorageError) -> Bool {
        let (_, ended) = try await storage.write(
            sql.zones.lockDatabase(key.database), sql.zones.endNamed((key, reason)))
        guard !ended.isEmpty else { return false }
        // no device made the change, so all are told.
        try await storage.post([.zone(ZoneNotice(database: key.database, life: .nobody, zoneName: ""))])
        return true
    }
}
