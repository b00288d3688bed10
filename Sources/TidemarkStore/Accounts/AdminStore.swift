// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
internal import TidemarkPostgres
package import TidemarkService

/// How an operator manages accounts and credentials, for `tidemark admin` and `tidemark dev`.
package struct AdminStore: Sendable {
    let storage: PostgresStorage

    package init(_ storage: PostgresStorage) {
        self.storage = storage
    }

    /// A row of the operator's list of accounts.
    package struct Account: Sendable {
        package let id: AccountID
        package let name: String
        package let createdAt: Timestamp
        package let credentialCount: Int
        package let deviceCount: Int
        package let encryptionMode: EncryptionMode
    }

    /// A row of the operator's list of an account's credentials.
    package struct Credential: Sendable {
        package let id: CredentialID
        package let label: String
        package let createdAt: Timestamp
        package let expiresAt: Timestamp?
        package let revokedAt: Timestamp?
    }

    /// A row of the operator's list of an account's devices.
    package struct Device: Sendable {
        package let id: DeviceID
        package let name: String
        package let firstSeenAt: Timestamp
        package let lastSeenAt: Timestamp
    }

    /// - Returns: nil if the name is taken.
    package func createAccount(_ name: String) async throws(StorageError) -> AccountID? {
        let rows = try await storage.write([AccountStatements.createAccount(.text(name))])
        return try first(rows[0]) { row throws(PostgresError) in AccountID(try row.int64(0)) }
    }

    package func account(named name: String) async throws(StorageError) -> AccountID? {
        let rows = try await storage.read(AccountStatements.findAccount(.text(name)))
        return try first(rows) { row throws(PostgresError) in AccountID(try row.int64(0)) }
    }

    /// By name.
    package func accounts() async throws(StorageError) -> [Account] {
        try all(try await storage.read(AccountStatements.listAccounts())) { row throws(PostgresError) in
            Account(
                id: AccountID(try row.int64(0)), name: try row.string(1),
                createdAt: Timestamp(milliseconds: try row.milliseconds(2)), credentialCount: Int(try row.int64(3)),
                deviceCount: Int(try row.int64(4)),
                encryptionMode: EncryptionMode(rawValue: try row.int16(5)) ?? .escrowed)
        }
    }

    /// Stores the SHA-256 of a credential. The credential itself is shown once and never stored.
    package func issueCredential(
        hash: [UInt8], label: String, expiresAt: Timestamp?, for account: AccountID
    ) async throws(StorageError) -> CredentialID {
        let rows = try await storage.write([
            AccountStatements.issueCredential(
                .int8(account.rawValue), .bytea(hash), .text(label),
                expiresAt.map { .timestamp(milliseconds: $0.milliseconds) } ?? .null)
        ])
        guard let id = try first(rows[0], { row throws(PostgresError) in CredentialID(try row.int64(0)) }) else {
            throw StorageError(.rejected, detail: "issue_credential")
        }
        return id
    }

    /// Revokes a credential, and tells every server to close the connections that it opened.
    ///
    /// - Returns: false if there is no such credential, or if it was revoked before.
    package func revokeCredential(_ id: CredentialID) async throws(StorageError) -> Bool {
        let rows = try await storage.write([AccountStatements.revokeCredential(.int8(id.rawValue))])
        guard rows[0].count > 0 else { return false }
        try await storage.post([.credentialRevoked(id)])
        return true
    }

    /// Oldest first.
    package func credentials(of account: AccountID) async throws(StorageError) -> [Credential] {
        let rows = try await storage.read(AccountStatements.listCredentials(.int8(account.rawValue)))
        return try all(rows) { row throws(PostgresError) in
            Credential(
                id: CredentialID(try row.int64(0)), label: try row.string(1),
                createdAt: Timestamp(milliseconds: try row.milliseconds(2)),
                expiresAt: try row.isNull(3) ? nil : Timestamp(milliseconds: try row.milliseconds(3)),
                revokedAt: try row.isNull(4) ? nil : Timestamp(milliseconds: try row.milliseconds(4)))
        }
    }

    /// The device that was seen last comes first.
    package func devices(of account: AccountID) async throws(StorageError) -> [Device] {
        let rows = try await storage.read(AccountStatements.listDevices(.int8(account.rawValue)))
        return try all(rows) { row throws(PostgresError) in
            Device(
                id: try row.device(0), name: try row.string(1),
                firstSeenAt: Timestamp(milliseconds: try row.milliseconds(2)),
                lastSeenAt: Timestamp(milliseconds: try row.milliseconds(3)))
        }
    }

    /// Makes all existing tokens and tags void, after a restore from a backup. Versions saved from then on can
    /// be told from those of the backup.
    package func renewIncarnation() async throws(StorageError) {
        _ = try await storage.write([
            AccountStatements.renewIncarnation(), AccountStatements.countZonesOn(),
            AccountStatements.moveZoneNumbers(.int8(ZoneID.gapBetweenLives)),
        ])
    }

    func all<Value>(
        _ rows: PostgresRows, _ body: (PostgresRow) throws(PostgresError) -> Value
    ) throws(StorageError) -> [Value] {
        try decode { () throws(PostgresError) in
            var values: [Value] = []
            for row in rows { values.append(try body(row)) }
            return values
        }
    }

    func first<Value>(
        _ rows: PostgresRows, _ body: (PostgresRow) throws(PostgresError) -> Value
    ) throws(StorageError) -> Value? {
        try all(rows, body).first
    }
}
