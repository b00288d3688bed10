// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
internal import TidemarkFields
package import TidemarkService

extension MemoryStore {
    package func feedsEverywhere(in container: ContainerKey) async throws(StorageError) -> Bool {
        try await call { tables in tables.containers[container].map(tables.feedsEverywhere.contains) ?? false }
    }

    package func setFeedsEverywhere(_ isOn: Bool, in container: ContainerKey) async throws(StorageError) -> Bool {
        try await call { $0.setFeedsEverywhere(isOn, in: container) }
    }

    package func setQuota(_ quota: StorageQuota, of container: ContainerKey) async throws(StorageError) -> Bool {
        try await call { $0.setQuota(quota, of: container) }
    }

    package func storageUse(of database: DatabaseID) async throws(StorageError) -> StorageUse? {
        // Without a quota, nothing is read.
        guard self.database.withTables({ !$0.quotaRows(of: database).isEmpty }) else { return nil }
        return try await call { StorageUse.tighter($0.storageUse(of: database), $0.accountUse(of: database)?.use) }
    }

    package func publicUse(of user: UserID, in database: DatabaseID) async throws(StorageError) -> StorageUse? {
        guard self.database.withTables({ $0.shareMax(of: database) != nil }) else { return nil }
        return try await call { $0.share(of: user, in: database) }
    }

    package func setAccountQuota(_ bytesMax: Int64?, of account: AccountID?) async throws(StorageError) -> Bool {
        try await call { tables in
            guard let account else {
                tables.accountQuota = bytesMax
                return true
            }
            guard tables.accounts.values.contains(account) else { return false }
            tables.accountQuotas[account] = bytesMax
            return true
        }
    }

    package func limits(of users: [UserID]) async throws(StorageError) -> [UserID: AccountLimits] {
        try await call { tables in
            let found = users.compactMap { user in tables.userKeys[user].map { (user, tables.limits(of: $0)) } }
            return Dictionary(found) { first, _ in first }
        }
    }

    package func setRequestRate(_ choice: RateChoice, of account: AccountID?) async throws(StorageError) -> Bool {
        try await call { tables in
            guard let account else {
                tables.rateOfEach = choice
                return true
            }
            guard tables.accounts.values.contains(account) else { return false }
            tables.accountRates[account] = choice
            return true
        }
    }

    package func setRequestRate(
        _ choice: RateChoice, in container: ContainerKey
    ) async throws(StorageError) -> Bool {
        try await call { tables in
            guard let id = tables.containers[container] else { return false }
            tables.containerRates[id] = choice
            return true
        }
    }

    package func setConnectionsMax(_ count: Int32?, of account: AccountID?) async throws(StorageError) -> Bool {
        try await call { tables in
            guard let account else {
                tables.connectionsOfEach = count
                return true
            }
            guard tables.accounts.values.contains(account) else { return false }
            tables.accountConnections[account] = count
            return true
        }
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
    /// - Returns: whether there is such a container.
    mutating func setFeedsEverywhere(_ isOn: Bool, in key: ContainerKey) -> Bool {
        guard let id = containers[key] else { return false }
        if isOn { feedsEverywhere.insert(id) } else { feedsEverywhere.remove(id) }
        for (database, row) in databases where row.container == id {
            guard let zone = livingZone(ZoneKey(database: database, name: ZoneName.default)) else { continue }
            databases[database]?.feed.forget(zone)
        }
        return true
    }

    /// - Returns: whether there is such a container.
    mutating func setQuota(_ quota: StorageQuota, of key: ContainerKey) -> Bool {
        guard let id = containers[key] else { return false }
        quotas[id] = quota
        return true
    }

    /// Operators' choices for an account in a container.
    func limits(of user: UserKey) -> AccountLimits {
        AccountLimits(
            requests: accountRates[user.account] ?? .standard,
            requestsInContainer: containerRates[user.container] ?? .standard, requestsOfEach: rateOfEach,
            connections: accountConnections[user.account], connectionsOfEach: connectionsOfEach)
    }

    /// The quota, if there is one.
    func bytesMax(of database: DatabaseID) -> Int64? {
        guard let container = databases[database]?.container, let quota = quotas[container] else { return nil }
        return publicDatabases[container] == database ? quota.publicBytes : quota.privateBytes
    }

    /// The most bytes of one account in the database, if it is public and bounded.
    func shareMax(of database: DatabaseID) -> Int64? {
        guard let container = databases[database]?.container, publicDatabases[container] == database else { return nil }
        return quotas[container]?.publicShareBytes
    }

    /// Nil if the database is not public.
    func publicUse(of database: DatabaseID) -> PublicUse? {
        guard let container = databases[database]?.container, publicDatabases[container] == database else { return nil }
        let bytesMax = shareMax(of: database)
        return PublicUse(bytesMax: bytesMax, byteCounts: bytesMax == nil ? [:] : publicUses[database] ?? [:])
    }

    /// How full a user's share is, with what the user has sent and no record of the user names.
    func share(of user: UserID, in database: DatabaseID) -> StorageUse? {
        guard let bytesMax = shareMax(of: database) else { return nil }
        let unnamed = assetSenders.keys.filter { $0.database == database && isUnnamed($0, by: user) }
        let byteCount = publicUses[database]?[user] ?? 0
        return StorageUse(byteCount: unnamed.reduce(byteCount) { $0 + $1.content.byteCount }, bytesMax: bytesMax)
    }

    /// The rows that a write to the database locks for quotas, in this order; none if there is no quota.
    func quotaRows(of database: DatabaseID) -> [MemoryRowLocks.Row] {
        let account = limitedAccount(of: database)?.account
        guard account != nil || bytesMax(of: database) != nil || shareMax(of: database) != nil else { return [] }
        return (account.map { [.account($0)] } ?? []) + [.database(database)]
    }

    /// Accounts come before databases, each kind in the order of ids.
    func quotaRows(of databases: [DatabaseID]) -> [MemoryRowLocks.Row] {
        let accounts = Set(databases.compactMap { limitedAccount(of: $0)?.account })
        let limited = Set(databases).filter { !quotaRows(of: $0).isEmpty }
        return accounts.sorted { $0.rawValue < $1.rawValue }.map { .account($0) }
            + limited.sorted().map { .database($0) }
    }

    private func limitedAccount(of database: DatabaseID) -> (account: AccountID, bytesMax: Int64)? {
        // Usually nobody has one, and nothing is looked for.
        guard accountQuota != nil || !accountQuotas.isEmpty,
            let account = users.first(where: { $0.value.database == database })?.key.account,
            let bytesMax = accountQuotas[account] ?? accountQuota
        else { return nil }
        return (account, bytesMax)
    }

    func accountUse(of database: DatabaseID) -> AccountUse? {
        guard let (account, bytesMax) = limitedAccount(of: database) else { return nil }
        let own = users.filter { $0.key.account == account }.map(\.value.database)
        let use = StorageUse(
            byteCount: own.reduce(0) { $0 + byteCount(of: $1) }, bytesMax: bytesMax, isOfAccount: true)
        return AccountUse(account: account, use: use)
    }

    func storageUse(of database: DatabaseID) -> StorageUse? {
        bytesMax(of: database).map { StorageUse(byteCount: byteCount(of: database), bytesMax: $0) }
    }

    /// The standing of the tighter of both quotas. As in a database with an index, zones beyond a number are not
    /// counted.
    func quotaStanding(of database: DatabaseID) -> QuotaStanding? {
        func standing(_ use: StorageUse?, _ databases: [DatabaseID]) -> QuotaStanding? {
            let zoneCount = databases.reduce(0) { $0 + livingZones(in: $1).count }
            return QuotaStanding(
                bytesMax: use?.bytesMax, byteCount: zoneCount > QuotaStanding.zonesMax ? nil : use?.byteCount)
        }
        let ofAccount = accountUse(of: database)
        let own = ofAccount.map { use in users.filter { $0.key.account == use.account }.map(\.value.database) }
        return QuotaStanding.tighter(
            standing(storageUse(of: database), [database]), standing(ofAccount?.use, own ?? []))
    }

    /// Living zones in the private databases of the database's owner, in all containers; 0 for a public database.
    func accountZoneCount(of database: DatabaseID) -> Int {
        guard let account = users.first(where: { $0.value.database == database })?.key.account else { return 0 }
        let own = users.lazy.filter { $0.key.account == account }
        let count = own.reduce(0) { $0 + livingZones(in: $1.value.database).count }
        return min(count, ZonesSnapshot.accountZonesCounted + 1)
    }

    private func byteCount(of database: DatabaseID) -> Int64 {
        let records = (databases[database]?.zones ?? []).reduce(0) { $0 + (zones[$1]?.byteCount ?? 0) }
        let assets = assets.keys.reduce(0) { $0 + ($1.database == database ? $1.content.byteCount : 0) }
        return records + assets
    }

    /// If a role is removed from the schema, its users lose it.
    mutating func dropRoles(in container: ContainerID, but names: Set<String>) {
        for (user, key) in userKeys where key.container == container {
            let left = (roles[user] ?? []).filter { names.contains($0.name) }
            roles[user] = left.isEmpty ? nil : left
        }
    }
}
