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
        let rows = try await storage.read(ZoneStatements.history(.int8(database.rawValue)))
        return try all(rows) { row throws(PostgresError) in
            Zone(
                name: try row.string(0), createdAt: Timestamp(milliseconds: try row.milliseconds(1)),
                changeNumber: try row.int64(2),
                removal: try row.isNull(3) ? nil : ZoneRemovalReason(rawValue: try row.int16(3)),
                removedAt: try row.isNull(4) ? nil : Timestamp(milliseconds: try row.milliseconds(4)))
        }
    }

    /// Ends a zone for another reason than its user's request, and tells every device of the user.
    ///
    /// - Returns: false if there is no such zone, or it is the default zone.
    /// - Throws: `zoneBusy` if a request holds the zone for too long.
    package func endZone(_ key: ZoneKey, reason: ZoneRemovalReason) async throws(StorageError) -> Bool {
        let rows = try await storage.write([
            ZoneStatements.lockDatabase(.int8(key.database.rawValue)),
            ZoneStatements.endNamed(.int8(key.database.rawValue), .text(key.name), .int2(reason.rawValue)),
        ])
        guard rows[1].count > 0 else { return false }
        // no device made the change, so all are told.
        try await storage.post([.zone(ZoneNotice(database: key.database, life: .nobody, zoneName: ""))])
        return true
    }
}
