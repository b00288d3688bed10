// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
internal import TidemarkFields
package import TidemarkService

extension MemoryStore {
    package func keepAsset(
        _ asset: AssetKey, from sender: UserID?, now: Timestamp, ifFull remove: @Sendable () async -> Void
    ) async throws(StorageError) -> Bool {
        let transaction = MemoryTransaction(self)
        try await transaction.lock(database.withTables { $0.quotaRows(of: asset.database) } + [.asset(asset)])
        try await transaction.reach(.callSent)
        let hasRoom = database.withTables { tables in
            let use = StorageUse.tighter(
                tables.storageUse(of: asset.database), tables.accountUse(of: asset.database)?.use)
            return tables.assets[asset] != nil || use?.hasRoom(for: asset.content.byteCount) ?? true
        }
        guard hasRoom else {
            await remove()
            transaction.rollBack()
            return false
        }
        let isNew = database.withTables { $0.assets[asset] == nil }
        if let sender, database.withTables({ $0.isShareFull(of: sender, with: asset) }) {
            if isNew { await remove() }
            transaction.rollBack()
            return false
        }
        try await transaction.commit { tables in
            tables.assets[asset] = now
            guard let sender else { return }
            // As a row that is new.
            if tables.assetSenders[asset]?[sender] == nil { tables.namedAssets[sender]?.remove(asset) }
            tables.assetSenders[asset, default: [:]][sender] = now
        }
        return true
    }

    package func assetClaims(of asset: AssetKey, by user: UserID) async throws(StorageError) -> AssetClaims {
        try await call { $0.assetClaims(of: asset, by: user) }
    }

    package func forgetSenders(before deadline: Timestamp) async throws(StorageError) {
        try await call { tables in
            tables.assetSenders = tables.assetSenders.mapValues { $0.filter { $0.value >= deadline } }
        }
    }

    package func adoptAssets(_ assets: [AssetKey], now: Timestamp) async throws(StorageError) -> Int {
        try await call { tables in
            let unknown = assets.filter { tables.assets[$0] == nil }
            for asset in unknown { tables.assets[asset] = now }
            return unknown.count
        }
    }

    package func unusedAssets(
        touchedBefore deadline: Timestamp, after last: AssetKey?, among countMax: Int
    ) async throws(StorageError) -> (unused: [AssetKey], last: AssetKey?) {
        try await call { tables in
            let seen = tables.assets.keys.filter { asset in last.map { $0 < asset } ?? true }.sorted().prefix(countMax)
            let unused = seen.filter { tables.isUnused($0, touchedBefore: deadline) }
            return (unused, seen.count < countMax ? nil : seen.last)
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
    func assetClaims(of asset: AssetKey, by user: UserID) -> AssetClaims {
        guard assets[asset] != nil else { return AssetClaims() }
        let holders = (assetUses[asset] ?? []).compactMap { use -> AssetClaims.Holder? in
            guard let zone = zones[use.zone], zone.state.removal == nil, let record = zone.record(use.recordName),
                !record.isDeleted
            else { return nil }
            return AssetClaims.Holder(
                name: record.name, type: record.type, createdBy: record.createdBy, zone: use.zone)
        }
        return AssetClaims(
            senders: assetSenders[asset]?[user] == nil ? [] : [user], holders: holders.sorted { $0.name < $1.name })
    }

    /// Whether the user has sent the asset, and no record of the user names it.
    func isUnnamed(_ asset: AssetKey, by user: UserID) -> Bool {
        assetSenders[asset]?[user] != nil && namedAssets[user]?.contains(asset) != true
    }

    /// Whether the sender would have more of a public database than an account may, because of this asset.
    func isShareFull(of sender: UserID, with asset: AssetKey) -> Bool {
        guard let share = share(of: sender, in: asset.database) else { return false }
        if assetSenders[asset]?[sender] == nil { return !share.hasRoom(for: asset.content.byteCount) }
        return isUnnamed(asset, by: sender) && share.byteCount > share.bytesMax
    }

    func isUnused(_ asset: AssetKey, touchedBefore deadline: Timestamp) -> Bool {
        guard let touched = assets[asset], touched < deadline else { return false }
        return !(assetUses[asset] ?? []).contains { zones[$0.zone]?.state.removal == nil }
    }

    /// Marks which of their assets creators name now. One that a record of the group names is named, even if other records no longer name
    /// it.
    mutating func markNamedAssets(_ changes: ZoneChanges) {
        func key(_ content: FieldAsset) -> AssetKey { AssetKey(database: changes.database, content: content) }
        for use in changes.assetUses {
            guard let creator = use.removedFrom else { continue }
            namedAssets[creator]?.subtract(use.removed.map(key))
        }
        for use in changes.assetUses {
            guard let creator = use.addedBy else { continue }
            namedAssets[creator, default: []].formUnion(use.added.map(key))
        }
    }

    mutating func write(_ use: AssetUse, in changes: ZoneChanges) {
        let user = AssetUser(zone: changes.zone, recordName: use.recordName)
        if use.removesUnread {
            for (asset, users) in assetUses where users.contains(user) && asset.database == changes.database {
                assetUses[asset]?.remove(user)
                if let creator = use.removedFrom {
                    publicUses[changes.database]?[creator, default: 0] -= asset.content.byteCount
                    namedAssets[creator]?.remove(asset)
                }
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
