// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
internal import TidemarkPostgres
package import TidemarkService

extension PostgresStorage {
    package func identity(
        credentialHash: [UInt8], container: String, environment: ContainerEnvironment, createsContainer: Bool,
        now: Timestamp
    ) async throws(StorageError) -> Identity? {
        let question = AccountStatements.identity(
            .bytea(credentialHash), .text(container), .int2(environment.rawValue),
            .timestamp(milliseconds: now.milliseconds))
        switch try await findIdentity(question) {
        case .none:
            return nil
        case .complete(let identity):
            return identity
        case .incomplete(let account, let hasContainer):
            guard hasContainer || createsContainer else { throw StorageError(.containerUnknown) }
            try await createUser(account, container: container, environment: environment, now: now)
        }
        guard case .complete(let identity) = try await findIdentity(question) else { return nil }
        return identity
    }

    private enum Finding {
        case none
        /// The account exists, but not yet in this container.
        case incomplete(account: Int64, hasContainer: Bool)
        case complete(Identity)
    }

    private func findIdentity(_ question: BoundStatement) async throws(StorageError) -> Finding {
        let rows = try await read(question)
        return try decode { () throws(PostgresError) in
            for row in rows {
                let account = try row.int64(0)
                guard try !row.isNull(6), try !row.isNull(7) else {
                    return .incomplete(account: account, hasContainer: try !row.isNull(3))
                }
                return .complete(
                    Identity(
                        account: AccountID(account), credential: CredentialID(try row.int64(1)),
                        credentialExpiresAt: try row.isNull(2) ? nil : Timestamp(milliseconds: try row.milliseconds(2)),
                        container: ContainerID(try row.int64(3)), user: UserID(try row.int64(4)),
                        userRecordName: try row.string(5), privateDatabase: DatabaseID(try row.int64(6)),
                        sharedDatabase: DatabaseID(try row.int64(7)), feedsEverywhere: try row.bool(8)))
            }
            return .none
        }
    }

    /// Creates everything in one transaction. Each step does nothing if another server was faster.
    func createUser(
        _ account: Int64, container: String, environment: ContainerEnvironment, now: Timestamp
    ) async throws(StorageError) {
        let name = PostgresValue.text(container)
        let environment = PostgresValue.int2(environment.rawValue)
        let account = PostgresValue.int8(account)
        _ = try await write([
            AccountStatements.createContainer(name, environment),
            AccountStatements.createUser(name, environment, account),
            AccountStatements.createPrivateDatabase(name, environment, account),
            AccountStatements.createSharedDatabase(name, environment, account),
            AccountStatements.createDefaultZone(
                name, environment, account, .timestamp(milliseconds: now.milliseconds)),
        ])
    }

    package func containers(
        credentialHash: [UInt8], environment: ContainerEnvironment, countMax: Int, now: Timestamp
    ) async throws(StorageError) -> [String] {
        let rows = try await read(
            AccountStatements.containers(
                .bytea(credentialHash), .int2(environment.rawValue), .timestamp(milliseconds: now.milliseconds),
                .int8(Int64(countMax))))
        return try decode { () throws(PostgresError) in
            var names: [String] = []
            for row in rows { names.append(try row.string(0)) }
            return names
        }
    }

    package func publicDatabase(
        of container: ContainerKey, now: Timestamp
    ) async throws(StorageError) -> PublicDatabase? {
        let question = AccountStatements.publicDatabase(
            .text(container.identifier), .int2(container.environment.rawValue))
        guard let found = try await findPublicDatabase(question) else { return nil }
        if let database = found.database { return PublicDatabase(container: found.container, database: database) }
        _ = try await write([
            AccountStatements.createPublicDatabase(.int8(found.container.rawValue)),
            AccountStatements.createPublicZone(
                .int8(found.container.rawValue), .timestamp(milliseconds: now.milliseconds)),
        ])
        guard let made = try await findPublicDatabase(question), let database = made.database else { return nil }
        return PublicDatabase(container: made.container, database: database)
    }

    private func findPublicDatabase(
        _ question: BoundStatement
    ) async throws(StorageError) -> (container: ContainerID, database: DatabaseID?)? {
        let rows = try await read(question)
        return try decode { () throws(PostgresError) in
            for row in rows {
                return (ContainerID(try row.int64(0)), try row.isNull(1) ? nil : DatabaseID(try row.int64(1)))
            }
            return nil
        }
    }

    package func userRecordNames(of users: [UserID]) async throws(StorageError) -> [UserID: String] {
        try userNames(try await read(AccountStatements.userRecordNames(.int8Array(users.map(\.rawValue)))))
    }

    package func users(
        named names: [String], in container: ContainerKey
    ) async throws(StorageError) -> [UserID: String] {
        try userNames(
            try await read(
                AccountStatements.usersNamed(
                    .text(container.identifier), .int2(container.environment.rawValue), .textArray(names))))
    }

    private func userNames(_ rows: PostgresRows) throws(StorageError) -> [UserID: String] {
        try decode { () throws(PostgresError) in
            var names: [UserID: String] = [:]
            for row in rows { names[UserID(try row.int64(0))] = try row.string(1) }
            return names
        }
    }

    package func noteDevice(
        _ device: DeviceID, of account: AccountID, name: String, now: Timestamp
    ) async throws(StorageError) {
        _ = try await write([
            AccountStatements.noteDevice(
                .int8(account.rawValue), .uuid(device.bytes), .text(name), .timestamp(milliseconds: now.milliseconds))
        ])
    }

    package func voidCredentials(
        among credentials: [CredentialID], now: Timestamp
    ) async throws(StorageError) -> [CredentialID] {
        let rows = try await read(
            AccountStatements.voidCredentials(
                .int8Array(credentials.map(\.rawValue)), .timestamp(milliseconds: now.milliseconds)))
        return try decode { () throws(PostgresError) in
            var void: [CredentialID] = []
            for row in rows { void.append(CredentialID(try row.int64(0))) }
            return void
        }
    }
}
