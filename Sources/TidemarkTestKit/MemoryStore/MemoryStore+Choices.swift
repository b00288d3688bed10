// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
internal import TidemarkFields
package import TidemarkService

extension MemoryStore {
    package func feedsEverywhere(in container: ContainerKey) async throws(StorageError) -> Bool {
        try await call { tables in tables.container(container).map(tables.feedsEverywhere.contains) ?? false }
    }

    package func setFeedsEverywhere(_ isOn: Bool, in container: ContainerKey) async throws(StorageError) -> Bool {
        try await call { $0.setFeedsEverywhere(isOn, in: container) }
    }

    package func setQuota(_ quota: StorageQuota, of container: ContainerKey) async throws(StorageError) -> Bool {
        try await call { $0.setQuota(quota, of: container) }
    }

    package func storageUse(of database: DatabaseID) async throws(StorageError) -> StorageUse? {
        // Without a quota, nothing is read.
        guard self.database.withTables({ $0.bytesMax(of: database) }) != nil else { return nil }
        return try await call { $0.storageUse(of: database) }
    }

    package func roles(of users: [UserID]) async throws(StorageError) -> [UserID: Set<Role>] {
        try await call { tables in tables.roles.filter { users.contains($0.key) } }
    }

    package func setRole(_ name: String, of user: UserID, isGiven: Bool) async throws(StorageError) -> Bool {
        try await call { tables in
            guard let container = tables.userKeys[user]?.container, let role = Role(name: name),
                tables.schemas[container]?.schema.roles.contains(name) == true
            else { return false }
            if isGiven { tables.roles[user, default: []].insert(role) } else { tables.roles[user]?.remove(role) }
            if tables.roles[user]?.isEmpty == true { tables.roles[user] = nil }
            return true
        }
    }
}

extension MemoryTables {
    fileprivate func container(_ key: TidemarkDomain.ContainerKey) -> ContainerID? {
        containers[ContainerKey(name: key.identifier, environment: key.environment)]
    }

    /// - Returns: whether there is such a container.
    mutating func setFeedsEverywhere(_ isOn: Bool, in key: TidemarkDomain.ContainerKey) -> Bool {
        guard let id = container(key) else { return false }
        if isOn { feedsEverywhere.insert(id) } else { feedsEverywhere.remove(id) }
        for (database, row) in databases where row.container == id {
            guard let zone = livingZone(ZoneKey(database: database, name: ZoneName.default)) else { continue }
            databases[database]?.feed.forget(zone)
        }
        return true
    }

    /// - Returns: whether there is such a container.
    mutating func setQuota(_ quota: StorageQuota, of key: TidemarkDomain.ContainerKey) -> Bool {
        guard let id = container(key) else { return false }
        quotas[id] = quota
        return true
    }

    /// The quota, if there is one.
    func bytesMax(of database: DatabaseID) -> Int64? {
        guard let container = databases[database]?.container, let quota = quotas[container] else { return nil }
        return publicDatabases[container] == database ? quota.publicBytes : quota.privateBytes
    }

    func storageUse(of database: DatabaseID) -> StorageUse? {
        guard let bytesMax = bytesMax(of: database) else { return nil }
        let records = (databases[database]?.zones ?? []).reduce(0) { $0 + (zones[$1]?.byteCount ?? 0) }
        let assets = assets.keys.reduce(0) { $0 + ($1.database == database ? $1.content.byteCount : 0) }
        return StorageUse(byteCount: records + assets, bytesMax: bytesMax)
    }

    /// If a role is removed from the schema, its users lose it.
    mutating func dropRoles(in container: ContainerID, but names: Set<String>) {
        for (user, key) in userKeys where key.container == container {
            let left = (roles[user] ?? []).filter { names.contains($0.name) }
            roles[user] = left.isEmpty ? nil : left
        }
    }
}
