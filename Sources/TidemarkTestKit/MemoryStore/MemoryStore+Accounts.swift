// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
internal import TidemarkScheduling
package import TidemarkService

extension MemoryStore {
    package func identity(
        credentialHash: [UInt8], container: String, environment: ContainerEnvironment, containersMax: Int,
        now: Timestamp
    ) async throws(StorageError) -> Identity? {
        let result = try await call { tables -> Result<Identity?, StorageError> in
            guard let credential = tables.credentials[credentialHash], !credential.isVoid(at: now) else {
                return .success(nil)
            }
            let key = ContainerKey(identifier: container, environment: environment)
            if let id = tables.containers[key], tables.closedContainers[id] != nil {
                return .failure(StorageError(.containerClosed))
            }
            let isKnown = tables.containers[key] != nil
            guard isKnown || tables.containerCount(of: credential.account, in: environment) < containersMax else {
                return .failure(StorageError(.containerUnknown))
            }
            return .success(tables.identity(of: credential, in: key, now: now))
        }
        return try result.get()
    }

    package func containers(
        credentialHash: [UInt8], environment: ContainerEnvironment, countMax: Int, now: Timestamp
    ) async throws(StorageError) -> [String] {
        try await call { tables in
            guard let credential = tables.credentials[credentialHash], !credential.isVoid(at: now) else { return [] }
            let users = tables.users.filter { $0.key.account == credential.account }
            let newest = users.sorted { $0.value.id.rawValue > $1.value.id.rawValue }
            let names = newest.compactMap { user in
                tables.containers.first { $0.key.environment == environment && $0.value == user.key.container }?.key
                    .identifier
            }
            return Array(names.prefix(countMax))
        }
    }

    package func publicDatabase(
        of container: ContainerKey, now: Timestamp
    ) async throws(StorageError) -> PublicDatabase? {
        let result = try await call { tables -> Result<PublicDatabase?, StorageError> in
            guard let id = tables.containers[container] else { return .success(nil) }
            guard tables.closedContainers[id] == nil else { return .failure(StorageError(.containerClosed)) }
            return .success(PublicDatabase(container: id, database: tables.publicDatabase(of: id, now: now)))
        }
        return try result.get()
    }

    package func closeContainer(_ container: ContainerKey) async throws(StorageError) -> ClosedContainer? {
        let now = Timestamp(milliseconds: database.scheduler.wallClockMilliseconds)
        return try await call { tables in
            guard let id = tables.containers[container] else { return nil }
            return ClosedContainer(id: id, closedAt: tables.close(id, now: now))
        }
    }

    package func closedContainers(among containers: [ContainerID]) async throws(StorageError) -> [ContainerID] {
        try await call { tables in
            let known = Set(tables.containers.values)
            return containers.filter { !known.contains($0) || tables.closedContainers[$0] != nil }
        }
    }

    package func userRecordNames(of users: [UserID]) async throws(StorageError) -> [UserID: String] {
        try await call { tables in
            let found = users.compactMap { user in
                tables.userKeys[user].flatMap { tables.users[$0] }.map { (user, $0.recordName) }
            }
            return Dictionary(found) { first, _ in first }
        }
    }

    package func users(
        named names: [String], in container: ContainerKey
    ) async throws(StorageError) -> [UserID: String] {
        try await call { tables in
            let id = tables.containers[container]
            let found = tables.users.filter { $0.key.container == id && names.contains($0.value.recordName) }
            return Dictionary(found.map { ($0.value.id, $0.value.recordName) }) { first, _ in first }
        }
    }

    /// Nobody deletes an account in memory.
    package func persons(
        named names: [String], in container: ContainerKey
    ) async throws(StorageError) -> [UserID: String] {
        try await users(named: names, in: container)
    }

    @discardableResult
    package func noteDevice(
        _ device: DeviceID, of account: AccountID, name: String, from address: String, atMost countMax: Int,
        now: Timestamp
    ) async throws(StorageError) -> Bool {
        try await call { tables in !tables.revokedDevices.contains(AccountDevice(account: account, device: device)) }
    }

    package func signInProblem(
        credentialHash: [UInt8], device: DeviceID, now: Timestamp
    ) async throws(StorageError) -> SignInProblem {
        try await call { tables in
            guard let credential = tables.credentials[credentialHash] else { return .credentialUnknown }
            if credential.isRevoked { return .credentialRevoked }
            if credential.isVoid(at: now) { return .credentialExpired }
            let isRevoked = tables.revokedDevices.contains(AccountDevice(account: credential.account, device: device))
            return isRevoked ? .deviceRevoked : .credentialUnknown
        }
    }

    package func noteRefusedSignIn(
        credentialHash: [UInt8], device: DeviceID, from address: String, now: Timestamp
    ) async throws(StorageError) {
        try await reach(.callSent)
    }

    package func revokedDevices(of accounts: [AccountID]) async throws(StorageError) -> [AccountDevice] {
        try await call { tables in
            tables.revokedDevices.filter { accounts.contains($0.account) }.sorted {
                ($0.account.rawValue, $0.device.high, $0.device.low)
                    < ($1.account.rawValue, $1.device.high, $1.device.low)
            }
        }
    }

    package func connectionClosings() async throws(StorageError) -> [ConnectionsClosing] {
        let now = scheduler.now
        return try await call { tables in
            tables.closings.map { ConnectionsClosing(account: $0.account, device: $0.device, age: now - $0.at) }
        }
    }

    package func deviceProgress(
        of devices: [AccountDevice]
    ) async throws(StorageError) -> [AccountDevice: NotedProgress] {
        try await call { tables in tables.deviceProgress.filter { devices.contains($0.key) } }
    }

    package func keepProgress(
        _ progress: [AccountDevice: DeviceProgress], over noted: [AccountDevice: Timestamp], now: Timestamp
    ) async throws(StorageError) -> Set<AccountDevice> {
        try await call { tables in
            var kept: Set<AccountDevice> = []
            for (device, progress) in progress {
                let last = tables.deviceProgress[device]?.notedAt
                guard last == noted[device] else { continue }
                // Time may stand still.
                let next = last.map { max(now, Timestamp(milliseconds: $0.milliseconds + 1)) } ?? now
                tables.deviceProgress[device] = NotedProgress(progress, at: next)
                kept.insert(device)
            }
            return kept
        }
    }

    package func voidCredentials(
        among credentials: [CredentialID], now: Timestamp
    ) async throws(StorageError) -> [CredentialID] {
        try await call { tables in
            let valid = Set(tables.credentials.values.filter { !$0.isVoid(at: now) }.map(\.id))
            return credentials.filter { !valid.contains($0) }
        }
    }

    package func saveSubscriptions(
        _ subscriptions: [Subscription], of user: UserID, atMost countMax: Int
    ) async throws(StorageError) -> [FailureReason?] {
        let result = try await call { tables -> Result<[FailureReason?], StorageError> in
            let container = tables.userKeys[user]?.container
            guard container.map({ tables.closedContainers[$0] == nil }) ?? true else {
                return .failure(StorageError(.containerClosed))
            }
            guard let key = tables.userKeys[user], let database = tables.users[key]?.database else {
                return .success(subscriptions.map { _ in .tooManySubscriptions })
            }
            let living = tables.livingZones(in: database).map { ($0.key.name, $0.id) }
            let kept = tables.livingSubscriptions(of: user).map { ($0.subscription.key, $0) }
            var byKey = Dictionary(uniqueKeysWithValues: kept)
            let saves = SubscriptionSaves(
                subscriptions, kept: byKey.mapValues(\.subscription.publicBytes),
                zones: Dictionary(uniqueKeysWithValues: living), atMost: countMax)
            byKey.merge(saves.stored) { $1 }
            tables.users[key]?.subscriptions = byKey.values.sorted(by: MemoryTables.isBefore)
            tables.forgetFired(of: key, named: Set(saves.stored.keys))
            return .success(saves.refusals)
        }
        return try result.get()
    }

    package func deleteSubscriptions(
        _ ids: Set<String>, scope: DatabaseScope, of user: UserID
    ) async throws(StorageError) -> Set<String> {
        try await call { tables in
            guard let key = tables.userKeys[user] else { return [] }
            var kept = tables.livingSubscriptions(of: user)
            let existing = kept.map(\.subscription).filter { $0.scope == scope && ids.contains($0.id) }
            kept.removeAll { existing.contains($0.subscription) }
            tables.users[key]?.subscriptions = kept
            tables.forgetFired(of: key, named: Set(ids.map { Subscription.Key(scope: scope, id: $0) }))
            return Set(existing.map(\.id))
        }
    }
}

extension MemoryTables {
    /// Without subscriptions of ended zones.
    func livingSubscriptions(of user: UserID) -> [KeptSubscription] {
        (userKeys[user].flatMap { users[$0] }?.subscriptions ?? []).filter(isLiving)
    }

    /// Whether its zone is not gone.
    func isLiving(_ kept: KeptSubscription) -> Bool {
        kept.zone.map { zone in zones[zone].map { $0.state.removal == nil } ?? false } ?? true
    }

    static func isBefore(_ one: KeptSubscription, _ other: KeptSubscription) -> Bool {
        (one.subscription.scope.rawValue, one.subscription.id) < (
            other.subscription.scope.rawValue, other.subscription.id
        )
    }
}

extension MemoryTables.StoredCredential {
    func isVoid(at now: Timestamp) -> Bool {
        isRevoked || expiresAt.map { $0 <= now } ?? false
    }
}

extension MemoryTables {
    /// The containers of this environment in which the account is a user.
    func containerCount(of account: AccountID, in environment: ContainerEnvironment) -> Int {
        containers.count {
            $0.key.environment == environment && users[UserKey(container: $0.value, account: account)] != nil
        }
    }

    /// The account's user in the container. Created on first use, with the private database, its default zone, which
    /// always exists, and the shared database.
    mutating func identity(of credential: StoredCredential, in key: ContainerKey, now: Timestamp) -> Identity {
        let container = containers[key] ?? newContainer(key)
        let userKey = UserKey(container: container, account: credential.account)
        let user = users[userKey] ?? newUser(userKey, now: now)
        return Identity(
            account: credential.account, credential: credential.id, credentialExpiresAt: credential.expiresAt,
            container: container, user: user.id, userRecordName: user.recordName, privateDatabase: user.database,
            sharedDatabase: user.sharedDatabase, feedsEverywhere: feedsEverywhere.contains(container),
            limits: limits(of: userKey), quota: quotaStanding(of: user.database))
    }

    /// The schema counts on, so that servers ask for it again and find it closed.
    ///
    /// - Returns: when it was closed first.
    mutating func close(_ container: ContainerID, now: Timestamp) -> Timestamp {
        if let time = closedContainers[container] { return time }
        closedContainers[container] = now
        if let schema = schemas[container] {
            schemas[container] = ContainerSchema(
                container: container, version: schema.version + 1, isFrozen: schema.isFrozen, schema: schema.schema)
        }
        return now
    }

    mutating func createContainer(_ key: ContainerKey) {
        if containers[key] == nil { _ = newContainer(key) }
    }

    private mutating func newContainer(_ key: ContainerKey) -> ContainerID {
        let container = ContainerID(newID())
        containers[key] = container
        schemas[container] = ContainerSchema(
            container: container, version: 1, isFrozen: key.environment == .production, schema: Schema())
        return container
    }

    /// The container's public database, created on first use with its default zone.
    mutating func publicDatabase(of container: ContainerID, now: Timestamp) -> DatabaseID {
        if let database = publicDatabases[container] { return database }
        let database = DatabaseID(newID())
        publicDatabases[container] = database
        databases[database, default: Database()].container = container
        createZone(ZoneKey(database: database, name: ZoneName.default), now: now)
        return database
    }

    private mutating func newUser(_ key: UserKey, now: Timestamp) -> User {
        let id = UserID(newID())
        let digits = String(id.rawValue, radix: 16)
        let recordName = "_" + String(repeating: "0", count: 32 - digits.count) + digits
        let (database, sharedDatabase) = (DatabaseID(newID()), DatabaseID(newID()))
        let user = User(id: id, recordName: recordName, database: database, sharedDatabase: sharedDatabase)
        users[key] = user
        userKeys[id] = key
        databases[user.database, default: Database()].container = key.container
        databases[user.sharedDatabase, default: Database()].container = key.container
        databases[user.sharedDatabase]?.viewer = id
        createZone(ZoneKey(database: user.database, name: ZoneName.default), now: now)
        return user
    }
}
