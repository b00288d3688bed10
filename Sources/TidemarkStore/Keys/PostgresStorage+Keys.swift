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
        guard key.publicKey != nil else {
            let (_, saved) = try await writeRepeatably(
                sql.keys.saveAccountKey((user, key, masterKeyCheck, now)), sql.keys.readAccountKey(user))
            return try Self.one(saved.rows)
        }
        let (_, _, saved) = try await writeRepeatably(
            sql.keys.saveAccountKey((user, key, masterKeyCheck, now)), sql.keys.publishAccountKey((user, key)),
            sql.keys.readAccountKey(user))
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
        of zones: [ZoneKey], keysMax: Int, sharing: SharingRead
    ) async throws(StorageError) -> [ZoneKeysRead] {
        let refused = try await refusedReads(of: zones, sharing)
        let open = zones.filter { !refused.keys.contains($0) }
        var found: [ZoneKeysRead] = []
        if !open.isEmpty {
            let (rows, shares) = try await read(sql.keys.readZoneKeys((open, keysMax + 1)), and: sharing, of: open)
            // The zone of the row that does not fit is not read to its end.
            let count = rows.count > keysMax ? rows[keysMax].ordinal - 1 : open.count
            found = Self.zoneKeys(rows, ofFirst: count)
            for index in found.indices { found[index].sharing = shares[index] }
        }
        // I-5: a zone of another is not there, whatever became of it.
        guard !sharing.users.isEmpty else { return try await withRemovals(found, open) }
        var rest = found[...]
        var all: [ZoneKeysRead] = []
        for zone in zones {
            if let shares = refused[zone] {
                all.append(ZoneKeysRead(keys: nil))
                all[all.count - 1].sharing = shares
            } else if let next = rest.popFirst() {
                all.append(next)
            } else {
                break
            }
        }
        return all
    }

    package func saveZoneKey(
        _ key: WrappedZoneKey, in zone: ZoneKey, after newest: [UInt8]?, atMost countMax: Int, rowsMax: Int,
        now: Timestamp
    ) async throws(StorageError) -> ZoneKeysRead {
        let (_, keys) = try await writeRepeatably(
            sql.keys.saveZoneKey((zone, newest, key, now, countMax, rowsMax)),
            sql.keys.readZoneKeys(([zone], nil)))
        return try await withRemovals(Self.zoneKeys(keys.rows, ofFirst: 1), [zone])[0]
    }

    package func retireZoneKeys(in zone: ZoneKey, before id: [UInt8]) async throws(StorageError) {
        _ = try await writeRepeatably(sql.keys.retireZoneKeys((zone, id)))
    }

    /// The keys of the first zones of the list. Rows of others are left out.
    private static func zoneKeys(
        _ rows: [(ordinal: Int, key: WrappedZoneKey?)], ofFirst count: Int
    ) -> [ZoneKeysRead] {
        var found = [ZoneKeysRead](repeating: ZoneKeysRead(keys: nil), count: count)
        for (ordinal, key) in rows where ordinal <= count {
            if found[ordinal - 1].keys == nil { found[ordinal - 1].keys = [] }
            // In place: a new array for each key would make a zone of many keys expensive.
            if let key { found[ordinal - 1].keys?.append(key) }
        }
        return found
    }

    /// Adds why zones are missing, if any are.
    ///
    /// - Parameter zones: of what was found, and perhaps more.
    private func withRemovals(
        _ found: [ZoneKeysRead], _ zones: [ZoneKey]
    ) async throws(StorageError) -> [ZoneKeysRead] {
        let missing = found.indices.filter { found[$0].keys == nil }
        guard !missing.isEmpty else { return found }
        var result = found
        for (database, names) in missing.map({ zones[$0] }).byDatabase {
            let removals = try await removals(ofZones: names, in: database)
            for index in missing where zones[index].database == database {
                result[index].lastRemoval = removals[zones[index].name]
            }
        }
        return result
    }
}
