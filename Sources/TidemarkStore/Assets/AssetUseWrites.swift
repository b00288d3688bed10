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
        /// Whose share of a public database the record counted in.
        let creator: UserID?
    }

    struct Touch: Sendable {
        let asset: AssetKey
        let at: Timestamp
    }

    private var added: [Row] = []
    private var removed: [Row] = []
    private var touched: [AssetKey: Timestamp] = [:]
    private var unread: [UnreadRow] = []
    /// Who created the records that name assets of a public database, or named them: whether they do now.
    private var marks: [AssetSender: Bool] = [:]

    init(_ changes: [ZoneChanges]) {
        for zone in changes {
            for use in zone.assetUses {
                func row(_ asset: FieldAsset) -> Row {
                    Row(database: zone.database, zone: zone.zone, recordName: use.recordName, sha256: asset.sha256)
                }
                if use.removesUnread {
                    unread.append(
                        UnreadRow(
                            database: zone.database, zone: zone.zone, recordName: use.recordName, at: use.at,
                            creator: use.removedFrom))
                }
                added += use.added.map(row)
                removed += use.removed.map(row)
                func sender(_ asset: FieldAsset, _ user: UserID) -> AssetSender {
                    AssetSender(asset: AssetKey(database: zone.database, content: asset), user: user)
                }
                if let creator = use.addedBy { for asset in use.added { marks[sender(asset, creator)] = true } }
                if let creator = use.removedFrom {
                    // Another record of the group may name it from now on.
                    for asset in use.removed where marks[sender(asset, creator)] == nil {
                        marks[sender(asset, creator)] = false
                    }
                }
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
        let counted = unread.filter { $0.creator != nil }
        if !counted.isEmpty { calls.append(sql.publicUses.giveBack(counted)) }
        if !unread.isEmpty { calls.append(sql.assets.removeUnreadUses(unread)) }
        if !removed.isEmpty { calls.append(sql.assets.removeUses(removed)) }
        if !added.isEmpty { calls.append(sql.assets.addUses(added)) }
        let marks = marks.map { SenderMark(asset: $0.key.asset, user: $0.key.user, isNamed: $0.value) }
            .sorted { ($0.asset, $0.user.rawValue) < ($1.asset, $1.user.rawValue) }
        if !marks.isEmpty { calls.append(sql.publicUses.markSenders(marks)) }
        let touches = touched.map { Touch(asset: $0.key, at: $0.value) }.sorted { $0.asset < $1.asset }
        if !touches.isEmpty { calls.append(sql.assets.touch(touches)) }
        return calls
    }
}
