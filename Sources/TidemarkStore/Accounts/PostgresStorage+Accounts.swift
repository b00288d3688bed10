// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
package import TidemarkDomain
internal import TidemarkPostgres
package import TidemarkService
internal import TidemarkTelemetry

extension PostgresStorage {
    package func identity(
        credentialHash: [UInt8], container: String, environment: ContainerEnvironment, containersMax: Int,
        now: Timestamp
    ) async throws(StorageError) -> Identity? {
        let key = ContainerKey(identifier: container, environment: environment)
        let question = sql.accounts.identity((credentialHash, key, now))
        switch try await read(question).first {
        case nil:
            return nil
        case .complete(let identity):
            sharedDatabases.remember(identity)
            return identity
        case .closed:
            throw StorageError(.containerClosed)
        case .incomplete(let account, let hasContainer):
            guard hasContainer || containersMax > 0 else { throw StorageError(.containerUnknown) }
            try await create((key, account, now), containersMax: containersMax)
        }
        switch try await read(question).first {
        case nil: return nil
        case .complete(let identity):
            sharedDatabases.remember(identity)
            return identity
        case .closed: throw StorageError(.containerClosed)
        case .incomplete: throw StorageError(.containerUnknown)
        }
    }

    /// Creates everything in one transaction. Each step does nothing if another server was faster. The account's row is
    /// locked first, so that its containers are counted one after another.
    func create(_ user: NewUser, containersMax: Int = .max) async throws(StorageError) {
        _ = try await write(
            sql.accounts.lockAccount(user.account), sql.accounts.createContainer((user, containersMax)),
            sql.accounts.createUser(user),
            sql.accounts.createPrivateDatabase(user), sql.accounts.createSharedDatabase(user),
            sql.accounts.createDefaultZone(user))
    }

    package func containers(
        credentialHash: [UInt8], environment: ContainerEnvironment, countMax: Int, now: Timestamp
    ) async throws(StorageError) -> [String] {
        try await read(sql.accounts.containers((credentialHash, environment, now, countMax)))
    }

    package func publicDatabase(
        of container: ContainerKey, now: Timestamp
    ) async throws(StorageError) -> PublicDatabase? {
        let question = sql.accounts.publicDatabase(container)
        guard let found = try await read(question).first else { return nil }
        guard !found.isClosed else { throw StorageError(.containerClosed) }
        if let database = found.database { return PublicDatabase(container: found.container, database: database) }
        _ = try await write(
            sql.accounts.createPublicDatabase(found.container), sql.accounts.createPublicZone((found.container, now)))
        guard let made = try await read(question).first, let database = made.database else { return nil }
        return PublicDatabase(container: made.container, database: database)
    }

    package func userRecordNames(of users: [UserID]) async throws(StorageError) -> [UserID: String] {
        Self.byUser(try await read(sql.accounts.userRecordNames(users)))
    }

    package func users(
        named names: [String], in container: ContainerKey
    ) async throws(StorageError) -> [UserID: String] {
        Self.byUser(try await read(sql.accounts.usersNamed((names, container))))
    }

    package func persons(
        named names: [String], in container: ContainerKey
    ) async throws(StorageError) -> [UserID: String] {
        Self.byUser(try await read(sql.accounts.personsNamed((names, container))))
    }

    private static func byUser(_ rows: [(user: UserID, name: String)]) -> [UserID: String] {
        Dictionary(rows.map { ($0.user, $0.name) }) { $1 }
    }

    @discardableResult
    package func noteDevice(
        _ device: DeviceID, of account: AccountID, name: String, from address: String, atMost countMax: Int,
        now: Timestamp
    ) async throws(StorageError) -> Bool {
        let noteDevice = sql.accounts.noteDevice((device, account, name, now, countMax))
        let revokedDevice = sql.accounts.revokedDevice((device, account))
        let hour = Self.hour(of: now)
        // in an hour as many as there may be devices.
        guard signIns.withLock({ $0.admits(account, in: hour, atMost: countMax) }) else {
            FailureLog.shared.note(
                .warning, "sign-ins of an account are left out of the audit", cause: "very many devices",
                [
                    "account": "\(account.rawValue)",
                    "advice": "look whether its credential is with somebody else: tidemark admin devices list ACCOUNT",
                ], request: nil)
            return try await write(noteDevice, revokedDevice).1.isEmpty
        }
        let signIn = (account, device, AuditAction.bounded(address), now, hour, ChangeCause.current)
        let (_, noted, revoked) = try await write(noteDevice, sql.audit.noteSignIn(signIn), revokedDevice)
        if noted.affectedCount > 0 { signIns.withLock { $0.noted(account, in: hour) } }
        return revoked.isEmpty
    }

    package func signInProblem(
        credentialHash: [UInt8], device: DeviceID, now: Timestamp
    ) async throws(StorageError) -> SignInProblem {
        try await read(sql.identities.problem((credentialHash, device, now))).first ?? .credentialUnknown
    }

    package func revokedDevices(of accounts: [AccountID]) async throws(StorageError) -> [AccountDevice] {
        try await read(sql.accounts.revokedDevices(accounts))
    }

    /// Forgets devices that were not seen since, unless they are revoked. Nothing but the list for operators
    /// depends on them: tombstones, client tokens and remembered requests name devices by their
    /// bits.
    ///
    /// - Returns: how many.
    package func forgetDevices(notSeenSince deadline: Timestamp) async throws(StorageError) -> Int {
        try await write(sql.accounts.forgetDevices(deadline)).affectedCount
    }

    package func voidCredentials(
        among credentials: [CredentialID], now: Timestamp
    ) async throws(StorageError) -> [CredentialID] {
        try await read(sql.accounts.voidCredentials((credentials, now)))
    }
}
