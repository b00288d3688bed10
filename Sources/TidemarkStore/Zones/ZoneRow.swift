// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkPostgres

/// Reads a living zone from ``ZoneStatements/columns``.
enum ZoneRow {
    static func decode(_ row: PostgresRow) throws(PostgresError) -> ZoneState {
        var zone = ZoneState(
            id: try row["id"], key: ZoneKey(database: try row["database_id"], name: try row["name"]),
            createdAt: try row["created_at"], changeNumber: try row["change_number"],
            oldestTokenNumber: try row["oldest_token_number"])
        zone.encryptionScope = ZoneEncryptionScope(rawValue: try row["encryption_scope"]) ?? .perRecord
        zone.hasHierarchies = try row["has_hierarchies"] ?? false
        return zone
    }

    /// With whether it is shared.
    static func decodeListed(_ row: PostgresRow) throws(PostgresError) -> ZoneState {
        var zone = try decode(row)
        zone.isShared = try row["is_shared"]
        return zone
    }
}
