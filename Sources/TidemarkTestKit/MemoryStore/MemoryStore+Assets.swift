// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
package import TidemarkService

extension MemoryStore {
    package func keepAsset(_ asset: AssetKey, now: Timestamp) async throws(StorageError) {
        let transaction = MemoryTransaction(self)
        try await transaction.lock([.asset(asset)])
        try await transaction.reach(.callSent)
        try await transaction.commit { $0.assets[asset] = now }
    }

    package func adoptAssets(_ assets: [AssetKey], now: Timestamp) async throws(StorageError) -> Int {
        try await call { tables in
            let unknown = assets.filter { tables.assets[$0] == nil }
            for asset in unknown { tables.assets[asset] = now }
            return unknown.count
        }
    }

    package func unusedAssets(
        touchedBefore deadline: Timestamp, after last: AssetKey?, limit: Int
    ) async throws(StorageError) -> [AssetKey] {
        try await call { tables in
            let unused = tables.assets.keys.filter { asset in
                last.map { $0 < asset } ?? true && tables.isUnused(asset, touchedBefore: deadline)
            }
            return Array(unused.sorted().prefix(limit))
        }
    }

    package func forgetAsset(
        _ asset: AssetKey, touchedBefore deadline: Timestamp, remove: @Sendable () async -> Bool
    ) async throws(StorageError) -> Bool {
        let transaction = MemoryTransaction(self)
        try await transaction.lock([.asset(asset)])
        try await transaction.reach(.beginLocked)
        let isUnused = database.withTables { $0.isUnused(asset, touchedBefore: deadline) }
        guard isUnused, await remove() else {
            transaction.rollBack()
            return false
        }
        try await transaction.commit { tables in
            tables.assets[asset] = nil
            tables.assetUses[asset] = nil
        }
        return true
    }
}

extension MemoryTables {
    func isUnused(_ asset: AssetKey, touchedBefore deadline: Timestamp) -> Bool {
        guard let touched = assets[asset], touched < deadline else { return false }
        return !(assetUses[asset] ?? []).contains { zones[$0.zone]?.state.removal == nil }
    }

    mutating func write(_ use: AssetUse, in changes: ZoneChanges) {
        let user = AssetUser(zone: changes.zone, recordName: use.recordName)
        if use.removesUnread {
            for (asset, users) in assetUses where users.contains(user) {
                assetUses[asset]?.remove(user)
                if let touched = assets[asset] { assets[asset] = max(touched, use.at) }
            }
        }
        for content in use.added {
            let asset = AssetKey(database: changes.database, content: content)
            if assets[asset] == nil { complaints.append("an asset that was not uploaded is named") }
            assetUses[asset, default: []].insert(user)
        }
        for content in use.removed {
            assetUses[AssetKey(database: changes.database, content: content)]?.remove(user)
        }
        for content in use.added + use.removed {
            let asset = AssetKey(database: changes.database, content: content)
            if let touched = assets[asset] { assets[asset] = max(touched, use.at) }
        }
    }
}
