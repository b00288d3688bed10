// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkFields
internal import TidemarkPostgres

/// How a group of zones changes which records name which assets.
struct AssetUseWrites {
    struct Row: Sendable {
        let database: DatabaseID
        let zone: ZoneID
        let recordName: String
        let sha256: [UInt8]
    }

    /// A record that was deleted unread, and when.
    struct UnreadRow: Sendable {
        let database: DatabaseID
        let zone: ZoneID
        let recordName: String
        let at: Timestamp
    }

    struct Touch: Sendable {
        let asset: AssetKey
        let at: Timestamp
    }

    private var added: [Row] = []
    private var removed: [Row] = []
    private var touched: [AssetKey: Timestamp] = [:]
    private var unread: [UnreadRow] = []

    init(_ changes: [ZoneChanges]) {
        for zone in changes {
            for use in zone.assetUses {
                func row(_ asset: FieldAsset) -> Row {
                    Row(database: zone.database, zone: zone.zone, recordName: use.recordName, sha256: asset.sha256)
                }
                if use.removesUnread {
                    unread.append(
                        UnreadRow(database: zone.database, zone: zone.zone, recordName: use.recordName, at: use.at))
                }
                added += use.added.map(row)
                removed += use.removed.map(row)
                for asset in use.added + use.removed {
                    let key = AssetKey(database: zone.database, content: asset)
                    touched[key] = max(touched[key] ?? use.at, use.at)
                }
            }
        }
    }

    /// Empty if no asset is involved, which is usual.
    var calls: [Call<Void>] {
        var calls: [Call<Void>] = []
        if !unread.isEmpty { calls.append(sql.assets.removeUnreadUses(unread)) }
        if !removed.isEmpty { calls.append(sql.assets.removeUses(removed)) }
        if !added.isEmpty { calls.append(sql.assets.addUses(added)) }
        let touches = touched.map { Touch(asset: $0.key, at: $0.value) }.sorted { $0.asset < $1.asset }
        if !touches.isEmpty { calls.append(sql.assets.touch(touches)) }
        return calls
    }
}
