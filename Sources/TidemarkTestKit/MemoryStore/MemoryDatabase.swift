// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
package import TidemarkDomain
package import TidemarkScheduling
package import TidemarkService

/// The content of a database in memory at one moment.
package struct MemoryBackup: Sendable {
    let tables: MemoryTables
}

/// A database in memory. Any number of servers connect to it, each with its own ``MemoryStore``.
///
/// It has PostgreSQL's row locks, READ COMMITTED snapshots and commits, so every interleaving that is possible there is
/// possible here. Every step runs on the scheduler, so with a deterministic scheduler it can be replayed.
package final class MemoryDatabase: Sendable {
    struct State {
        var tables = MemoryTables()
        var locks = MemoryRowLocks()
        var lastTransaction: MemoryRowLocks.Transaction = 0
        /// Transactions up to this one no longer write: they were under way when the store was restored.
        var lastVoidTransaction: MemoryRowLocks.Transaction = 0
        var listeners: [(id: Int, hear: @Sendable ([ServerNotice]) -> Void)] = []
        var lastListener = 0
    }

    /// The value that the PostgreSQL store sets for its sessions.
    static let lockTimeout: Duration = .seconds(2)
    /// A transaction whose server does nothing for this long is rolled back, so that a frozen server frees its zones.
    static let idleTimeout: Duration = .seconds(5)

    let scheduler: any Scheduler
    private let state = Mutex(State())

    package init(scheduler: any Scheduler) {
        self.scheduler = scheduler
    }

    // MARK: For operators

    /// Creates the account if it does not exist, and a credential for it with this SHA-256.
    @discardableResult
    package func issueCredential(
        hash: [UInt8], account name: String, expiresAt: Timestamp? = nil
    ) -> CredentialID {
        withState { state in
            if state.tables.accounts[name] == nil { state.tables.accounts[name] = AccountID(state.tables.newID()) }
            let id = CredentialID(state.tables.newID())
            if let account = state.tables.accounts[name] {
                state.tables.credentials[hash] = .init(id: id, account: account, expiresAt: expiresAt)
            }
            return id
        }
    }

    package func revokeCredential(_ id: CredentialID) {
        withState { state in
            for (hash, credential) in state.tables.credentials where credential.id == id {
                state.tables.credentials[hash]?.isRevoked = true
            }
        }
    }

    /// The device may not sign in any more.
    ///
    /// - Returns: nil, with nothing changed, if there is no such account.
    package func revokeDevice(_ device: DeviceID, account name: String) -> AccountDevice? {
        withState { state in
            guard let account = state.tables.accounts[name] else { return nil }
            let revoked = AccountDevice(account: account, device: device)
            state.tables.revokedDevices.insert(revoked)
            return revoked
        }
    }

    /// Notes that an operator closes connections, for servers that miss the notice.
    ///
    /// - Returns: nil, with nothing changed, if there is no such account.
    package func noteClosing(_ device: DeviceID?, account name: String) -> AccountID? {
        let now = scheduler.now
        return withState { state in
            guard let account = state.tables.accounts[name] else { return nil }
            state.tables.closings.append((account, device, now))
            return account
        }
    }

    /// Makes an address, in its normal form, a verified one of the account.
    ///
    /// - Returns: false, with nothing changed, if there is no such account, or if the address is another's.
    @discardableResult
    package func addAddress(_ address: String, account name: String) -> Bool {
        withState { state in
            guard let account = state.tables.accounts[name],
                state.tables.addresses[address, default: account] == account
            else { return false }
            state.tables.addresses[address] = account
            return true
        }
    }

    /// Sets the name of an account's person; nil: it has none any more.
    ///
    /// - Returns: whether there is such an account.
    @discardableResult
    package func setPersonName(_ name: PersonName?, account accountName: String) -> Bool {
        withState { state in
            guard let account = state.tables.accounts[accountName] else { return false }
            state.tables.personNames[account] = name
            return true
        }
    }

    /// Makes a container, as an operator does.
    package func createContainer(_ key: ContainerKey) {
        withState { $0.tables.createContainer(key) }
    }

    /// Closes a container, as an operator does who deletes it. The caller tells the servers.
    ///
    /// - Returns: nil if there is no such container.
    package func closeContainer(_ key: ContainerKey) -> ContainerID? {
        let now = Timestamp(milliseconds: scheduler.wallClockMilliseconds)
        return withState { state in
            guard let id = state.tables.containers[key] else { return nil }
            _ = state.tables.close(id, now: now)
            return id
        }
    }

    /// Begins another incarnation of the store, as after a restore from a backup: all tokens and tags are void.
    package func renewIncarnation() {
        let mark = UInt32(truncatingIfNeeded: scheduler.randomBits())
        withState { $0.tables.renewIncarnation(mark: mark) }
    }

    /// Everything that is stored, as in a dump by `pg_dump`.
    package func backUp() -> MemoryBackup {
        withState { MemoryBackup(tables: $0.tables) }
    }

    /// Restores the data of the backup, except accounts and credentials, and begins another incarnation. Servers should
    /// be idle: transactions under way become void.
    ///
    /// - Parameter renewsLife: false if the operator forgets that step.
    package func restore(_ backup: MemoryBackup, renewsLife: Bool = true) {
        let waiters = withState { state in
            state.tables.restore(backup.tables)
            state.lastVoidTransaction = state.lastTransaction
            return state.locks.releaseAll()
        }
        for waiter in waiters { waiter.resume.resume(returning: false) }
        if renewsLife { renewIncarnation() }
    }

    /// Ends a zone for another reason than a request: its user purged it, or its keys were lost. Takes no
    /// locks.
    ///
    /// - Returns: whether there was such a zone.
    @discardableResult
    package func endZone(_ key: ZoneKey, reason: ZoneRemovalReason) -> Bool {
        withState { state in
            guard let id = state.tables.livingZone(key) else { return false }
            state.tables.endZone(id, reason: reason)
            return true
        }
    }

    /// Forgets all deletions: older tokens are expired from then on.
    package func compact() {
        withState { $0.tables.compact() }
    }

    /// Notifies servers of something that none of them did.
    package func post(_ notice: ServerNotice) {
        for hear in listeners() { _ = scheduler.schedule(after: .zero) { hear([notice]) } }
    }

    /// Sets the master key that encrypts account keys, as the first server of a database does.
    package func setMasterKeyCheck(_ check: [UInt8]) {
        withState { $0.tables.masterKeyCheck = check }
    }

    /// No server has the keys of the account from now on: it is end-to-end encrypted.
    ///
    /// - Returns: false, with nothing changed, if there is no such account, or if a server has keys of it.
    package func keepNoKeys(ofAccount name: String) -> Bool {
        withState { state in
            guard let account = state.tables.accounts[name] else { return false }
            return state.tables.keepNoKeys(of: account)
        }
    }

    /// A user's private database; nil before the user's first connection.
    package func privateDatabase(ofAccount name: String, in container: ContainerKey) -> DatabaseID? {
        withState { state in
            let tables = state.tables
            guard let account = tables.accounts[name], let id = tables.containers[container] else { return nil }
            return tables.users[MemoryTables.UserKey(container: id, account: account)]?.database
        }
    }

    /// How many deleteSelf references may point to one record, in all containers.
    package func setReferencesMax(_ referencesMax: Int) {
        withState { $0.tables.referencesMax = referencesMax }
    }

    /// Sets whether all zones of a container have feeds, even where CloudKit has none.
    ///
    /// - Returns: whether there is such a container.
    @discardableResult
    package func setFeedsEverywhere(_ isOn: Bool, in container: ContainerKey) -> Bool {
        withState { $0.tables.setFeedsEverywhere(isOn, in: container) }
    }

    /// Sets the quota of the container's databases.
    ///
    /// - Returns: whether there is such a container.
    @discardableResult
    package func setQuota(_ quota: StorageQuota, of container: ContainerKey) -> Bool {
        withState { $0.tables.setQuota(quota, of: container) }
    }

    /// Chooses what an account may send, and tells servers.
    ///
    /// - Returns: false, with nothing changed, if there is no such account.
    package func setRequestRate(_ choice: RateChoice, account name: String) -> Bool {
        let account = withState { state in
            let account = state.tables.accounts[name]
            if let account { state.tables.accountRates[account] = choice }
            return account
        }
        guard let account else { return false }
        post(.limitsChanged(account))
        return true
    }

    /// Chooses how many connections an account may have; nil: nothing.
    ///
    /// - Parameter name: nil: each account without its own choice.
    /// - Returns: false, with nothing changed, if there is no such account.
    package func setConnectionsMax(_ count: Int32?, account name: String?) -> Bool {
        withState { state in
            guard let name else {
                state.tables.connectionsOfEach = count
                return true
            }
            guard let account = state.tables.accounts[name] else { return false }
            state.tables.accountConnections[account] = count
            return true
        }
    }

    /// Chooses what each account may send in a container, and tells servers.
    ///
    /// - Returns: false, with nothing changed, if there is no such container.
    package func setRequestRate(_ choice: RateChoice, in container: ContainerKey) -> Bool {
        let isThere = withState { state in
            guard let id = state.tables.containers[container] else { return false }
            state.tables.containerRates[id] = choice
            return true
        }
        if isThere { post(.limitsChanged(nil)) }
        return isThere
    }

    // MARK: For judges

    /// Reports every later commit when it takes place, in order. The observer must not call back.
    package func observe(_ observer: @escaping @Sendable (MemoryCommit) -> Void) {
        withState { $0.tables.observe = observer }
    }

    package var incarnation: StoreIncarnation { withState { $0.tables.incarnation } }

    /// Writes of servers that the rules forbid; empty unless a server is broken.
    package var complaints: [String] { withState { $0.tables.complaints } }

    // MARK: Notices

    /// Receives what servers tell each other, until the returned ID is passed to ``stopListening(_:)``.
    package func listen(_ hear: @escaping @Sendable ([ServerNotice]) -> Void) -> Int {
        withState { state in
            state.lastListener += 1
            state.listeners.append((state.lastListener, hear))
            return state.lastListener
        }
    }

    package func stopListening(_ id: Int) {
        withState { $0.listeners.removeAll { $0.id == id } }
    }

    // MARK: For MemoryStore

    private func withState<Value: Sendable>(_ body: (inout State) -> Value) -> Value {
        state.withLock { body(&$0) }
    }

    /// One statement: its reads are one snapshot, and its writes take place at once.
    func withTables<Value: Sendable>(_ body: (inout MemoryTables) -> Value) -> Value {
        state.withLock { body(&$0.tables) }
    }

    func listeners() -> [@Sendable ([ServerNotice]) -> Void] {
        withState { $0.listeners.map(\.hear) }
    }

    func beginTransaction() -> MemoryRowLocks.Transaction {
        withState {
            $0.lastTransaction += 1
            return $0.lastTransaction
        }
    }

    /// Waits for the row, in order. False after ``lockTimeout``.
    func lock(_ row: MemoryRowLocks.Row, for transaction: MemoryRowLocks.Transaction) async -> Bool {
        if withState({ $0.locks.take(row, for: transaction) }) { return true }
        let timer = scheduler.schedule(after: Self.lockTimeout) { [self] in
            withState { $0.locks.giveUp(transaction, on: row) }?.resume.resume(returning: false)
        }
        defer { timer.cancel() }
        return await withCheckedContinuation { continuation in
            // NB: it may have become free since. There are two steps because a lock must not be held across them.
            let isTaken = withState { state in
                if state.locks.take(row, for: transaction) { return true }
                state.locks.wait(.init(transaction: transaction, resume: continuation), for: row)
                return false
            }
            if isTaken { continuation.resume(returning: true) }
        }
    }

    /// Ends a transaction: its changes (if any) and its locks, in one step.
    func end(_ transaction: MemoryRowLocks.Transaction, _ change: ((inout MemoryTables) -> Void)? = nil) {
        let waiters = withState { state in
            if transaction > state.lastVoidTransaction { change?(&state.tables) }
            return state.locks.release(transaction)
        }
        for waiter in waiters { waiter.resume.resume(returning: true) }
    }
}
