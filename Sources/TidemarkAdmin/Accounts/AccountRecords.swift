// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkStore

/// The records in an account's private databases.
struct AccountRecords: Sendable {
    let users: [AccountUser]

    /// Zones that are read at once.
    private static let zonesMax = 500

    /// Living records in living zones.
    func count(_ store: AdminStore) async throws -> Int {
        var count = 0
        try await eachZone(store) { zone in
            count += try await store.recordCounts(of: zone.id, in: zone.key.database).living
        }
        return count
    }

    /// Goes through the living zones of all private databases, by database and age.
    func eachZone(_ store: AdminStore, _ body: (ZoneState) async throws -> Void) async throws {
        for user in users {
            var last: ZoneID?
            while true {
                let zones = try await store.livingZones(
                    in: user.privateDatabase, after: last, zonesMax: Self.zonesMax)
                for zone in zones { try await body(zone) }
                guard zones.count == Self.zonesMax, let end = zones.last else { break }
                last = end.id
            }
        }
    }
}
