// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkFields
internal import TidemarkPostgres

/// How a group of zones changes which records name which assets, as lists for PostgreSQL.
struct AssetUseWrites {
    private struct Rows {
        var databases: [Int64] = []
        var zones: [Int64] = []
        var names: [String] = []
        var hashes: [[UInt8]] = []

        mutating func append(_ asset: FieldAsset, of use: AssetUse, in zone: ZoneChanges) {
            databases.append(zone.database.rawValue)
            zones.append(zone.zone.rawValue)
            names.append(use.recordName)
            hashes.append(asset.sha256)
        }

        func bound(_ statement: Statement) -> BoundStatement {
            statement(.int8Array(databases), .int8Array(zones), .textArray(names), .byteaArray(hashes))
        }
    }

    private var added = Rows()
    private var removed = Rows()
    private var touched: [AssetKey: Timestamp] = [:]
    /// Records that were deleted unread, and when.
    private var unread: (databases: [Int64], zones: [Int64], names: [String], times: [Int64?]) = ([], [], [], [])

    init(_ changes: [ZoneChanges]) {
        for zone in changes {
            for use in zone.assetUses {
                if use.removesUnread {
                    unread.databases.append(zone.database.rawValue)
                    unread.zones.append(zone.zone.rawValue)
                    unread.names.append(use.recordName)
                    unread.times.append(use.at.milliseconds)
                }
                for asset in use.added { added.append(asset, of: use, in: zone) }
                for asset in use.removed { removed.append(asset, of: use, in: zone) }
                for asset in use.added + use.removed {
                    let key = AssetKey(database: zone.database, content: asset)
                    touched[key] = max(touched[key] ?? use.at, use.at)
                }
            }
        }
    }

    /// Empty if no asset is involved, which is usual.
    var statements: [BoundStatement] {
        var statements: [BoundStatement] = []
        if !unread.names.isEmpty {
            statements.append(
                AssetStatements.removeUnreadUses(
                    .int8Array(unread.databases), .int8Array(unread.zones), .textArray(unread.names),
                    .timestampArray(milliseconds: unread.times)))
        }
        guard !touched.isEmpty else { return statements }
        if !removed.names.isEmpty { statements.append(removed.bound(AssetStatements.removeUses)) }
        if !added.names.isEmpty { statements.append(added.bound(AssetStatements.addUses)) }
        let keys = touched.keys.sorted()
        statements.append(
            AssetStatements.touch(
                .int8Array(keys.map(\.database.rawValue)), .byteaArray(keys.map(\.content.sha256)),
                .timestampArray(milliseconds: keys.map { touched[$0]?.milliseconds })))
        return statements
    }
}
