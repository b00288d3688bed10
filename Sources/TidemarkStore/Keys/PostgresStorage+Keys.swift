// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
internal import TidemarkPostgres
package import TidemarkService

extension PostgresStorage {
    package func accountKey(of user: UserID) async throws(StorageError) -> StoredAccountKey {
        try Self.one(try await read(sql.keys.readAccountKey(user)))
    }

    private static func one<Row>(_ rows: [Row]) throws(StorageError) -> Row {
        guard let row = rows.first else { throw StorageError(.rejected, detail: "a row is missing") }
        return row
    }

    package func saveAccountKey(
        _ key: StoredAccountKey, of user: UserID, masterKeyCheck: [UInt8], now: Timestamp
    ) async throws(StorageError) -> StoredAccountKey {
        let (_, saved) = try await writeRepeatably(
            sql.keys.saveAccountKey((user, key, masterKeyCheck, now)), sql.keys.readAccountKey(user))
        return try Self.one(saved.rows)
    }

    package func claimMasterKey(check: [UInt8]) async throws(StorageError) -> Bool {
        let (_, claimed) = try await writeRepeatably(
            sql.keys.claimMasterKey(check), sql.keys.readMasterKeyCheck())
        return try Self.one(claimed.rows) == check
    }

    /// The check of the store's master key; nil if it has none yet.
    package func masterKeyCheck() async throws(StorageError) -> [UInt8]? {
        try Self.one(try await read(sql.keys.readMasterKeyCheck()))
    }

    package func zoneKeys(
        of names: [String], in database: DatabaseID, keysMax: Int, sharing: SharingRead
    ) async throws(StorageError) -> [ZoneKeysRead] {
        guard !names.isEmpty else { return [] }
        let zones = names.map { ZoneKey(database: database, name: $0) }
        if zones.count == 1, let refused = try await refusedRead(of: zones[0], sharing) {
            var read = ZoneKeysRead(keys: nil)
            read.sharing = refused.sharing
            return [read]
        }
        let (rows, shares) = try await read(
            sql.keys.readZoneKeys((database, names, keysMax + 1)), and: sharing, of: zones)
        var covered = names
        // The zone of the row that does not fit is not read to its end.
        if rows.count > keysMax, let last = rows.last { covered.removeSubrange((last.ordinal - 1)...) }
        var found = Self.zoneKeys(rows, covered)
        for index in found.indices { found[index].sharing = shares[index] }
        // I-5: a zone of another is not there, whatever became of it.
        guard sharing.users.isEmpty else { return found }
        return try await withRemovals(found, covered, in: database)
    }

    package func saveZoneKey(
        _ key: WrappedZoneKey, in zone: ZoneKey, after newest: [UInt8]?, atMost countMax: Int, now: Timestamp
    ) async throws(StorageError) -> ZoneKeysRead {
        let (_, keys) = try await writeRepeatably(
            sql.keys.saveZoneKey((zone, newest, key, now, countMax)),
            sql.keys.readZoneKeys((zone.database, [zone.name], nil)))
        let found = Self.zoneKeys(keys.rows, [zone.name])
        return try await withRemovals(found, [zone.name], in: zone.database)[0]
    }

    /// The keys of each zone. Rows of other zones are left out.
    private static func zoneKeys(_ rows: [(ordinal: Int, key: WrappedZoneKey?)], _ names: [String]) -> [ZoneKeysRead] {
        var found = names.map { _ in ZoneKeysRead(keys: nil) }
        for (ordinal, key) in rows where ordinal <= found.count {
            if found[ordinal - 1].keys == nil { found[ordinal - 1].keys = [] }
            // In place: a new array for each key would make a zone of many keys expensive.
            if let key { found[ordinal - 1].keys?.append(key) }
        }
        return found
    }

    /// Adds why zones are missing, if any are.
    private func withRemovals(
        _ found: [ZoneKeysRead], _ names: [String], in database: DatabaseID
    ) async throws(StorageError) -> [ZoneKeysRead] {
        let missing = names.indices.filter { found[$0].keys == nil }
        guard !missing.isEmpty else { return found }
        let removals = try await removals(ofZones: missing.map { names[$0] }, in: database)
        var result = found
        for index in missing { result[index].lastRemoval = removals[names[index]] }
        return result
    }
}
