// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
internal import TidemarkPostgres
package import TidemarkService

extension PostgresStorage {
    package func accountKey(of user: UserID) async throws(StorageError) -> StoredAccountKey {
        let rows = try await read(KeyStatements.readAccountKey(.int8(user.rawValue)))
        return try accountKey(from: rows)
    }

    private func accountKey(from rows: PostgresRows) throws(StorageError) -> StoredAccountKey {
        try decode { () throws(PostgresError) in
            guard !rows.isEmpty, let mode = EncryptionMode(rawValue: try rows[0].int16(0)) else {
                throw PostgresError(.unexpectedResult, detail: "read_account_key")
            }
            return StoredAccountKey(
                mode: mode, id: try rows[0].bytes(ifPresent: 1), escrow: try rows[0].bytes(ifPresent: 2))
        }
    }

    package func saveAccountKey(
        _ key: StoredAccountKey, of user: UserID, masterKeyCheck: [UInt8], now: Timestamp
    ) async throws(StorageError) -> StoredAccountKey {
        let rows = try await writeRepeatably([
            KeyStatements.saveAccountKey(
                .int8(user.rawValue), .int2(key.mode.rawValue), .bytea(ifPresent: key.id),
                .bytea(ifPresent: key.escrow), .bytea(masterKeyCheck), .timestamp(milliseconds: now.milliseconds)),
            KeyStatements.readAccountKey(.int8(user.rawValue)),
        ])
        return try accountKey(from: rows[1])
    }

    package func claimMasterKey(check: [UInt8]) async throws(StorageError) -> Bool {
        let rows = try await writeRepeatably([
            KeyStatements.claimMasterKey(.bytea(check)), KeyStatements.readMasterKeyCheck(),
        ])
        return try decode { () throws(PostgresError) in try rows[1][0].bytes(ifPresent: 0) } == check
    }

    /// The check of the store's master key; nil if it has none yet.
    package func masterKeyCheck() async throws(StorageError) -> [UInt8]? {
        let rows = try await read(KeyStatements.readMasterKeyCheck())
        return try decode { () throws(PostgresError) in try rows[0].bytes(ifPresent: 0) }
    }

    package func zoneKeys(
        of names: [String], in database: DatabaseID
    ) async throws(StorageError) -> [ZoneKeysRead] {
        guard !names.isEmpty else { return [] }
        let statement = KeyStatements.readZoneKeys(.int8(database.rawValue), .textArray(names))
        return try await withRemovals(try zoneKeys(from: try await read(statement), names), names, in: database)
    }

    package func saveZoneKey(
        _ key: WrappedZoneKey, in zone: ZoneKey, after newest: [UInt8]?, atMost countMax: Int, now: Timestamp
    ) async throws(StorageError) -> ZoneKeysRead {
        let database = PostgresValue.int8(zone.database.rawValue)
        let rows = try await writeRepeatably([
            KeyStatements.saveZoneKey(
                database, .text(zone.name), .bytea(ifPresent: newest), .bytea(key.id), .bytea(key.accountKeyID),
                .bytea(key.wrapped), .timestamp(milliseconds: now.milliseconds), .int8(Int64(countMax))),
            KeyStatements.readZoneKeys(database, .textArray([zone.name])),
        ])
        let found = try zoneKeys(from: rows[1], [zone.name])
        return try await withRemovals(found, [zone.name], in: zone.database)[0]
    }

    private func zoneKeys(from rows: PostgresRows, _ names: [String]) throws(StorageError) -> [ZoneKeysRead] {
        try decode { () throws(PostgresError) in
            var found = names.map { _ in ZoneKeysRead(keys: nil) }
            for row in rows {
                let index = Int(try row.int64(0)) - 1
                var keys = found[index].keys ?? []
                if try !row.isNull(1) {
                    keys.append(
                        WrappedZoneKey(
                            id: try row.bytes(1), accountKeyID: try row.bytes(2), wrapped: try row.bytes(3)))
                }
                found[index].keys = keys
            }
            return found
        }
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
