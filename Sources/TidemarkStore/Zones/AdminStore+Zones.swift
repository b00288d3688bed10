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
