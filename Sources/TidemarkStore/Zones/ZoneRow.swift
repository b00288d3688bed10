// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkPostgres

/// The places of a living zone's columns in a row: name, id, change number, oldest token, creation, encryption scope.
enum ZoneRow {
    static func decode(_ row: PostgresRow, from first: Int, in database: DatabaseID) throws(PostgresError) -> ZoneState
    {
        var zone = ZoneState(
            id: ZoneID(try row.int64(first + 1)),
            key: ZoneKey(database: database, name: try row.string(first)),
            createdAt: Timestamp(milliseconds: try row.milliseconds(first + 4)),
            changeNumber: try row.int64(first + 2),
            oldestTokenNumber: try row.int64(first + 3))
        zone.encryptionScope = ZoneEncryptionScope(rawValue: try row.int16(first + 5)) ?? .perRecord
        return zone
    }
}
