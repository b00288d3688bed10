// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
internal import TidemarkPostgres
package import TidemarkService

/// Who may give commands over a server.
extension AdminStore {
    /// A row of the list of operators.
    package struct ListedOperator: Sendable {
        package let id: OperatorID
        package let name: String
        package let role: OperatorRole
        package let createdAt: Timestamp
        /// Those that are valid.
        package let credentialCount: Int
    }

    /// A row of the list of an operator's credentials.
    package struct ListedOperatorCredential: Sendable {
        package let id: OperatorCredentialID
        package let label: String
        package let createdAt: Timestamp
        package let expiresAt: Timestamp?
        package let revokedAt: Timestamp?
    }

    /// By name.
    package func operators() async throws(StorageError) -> [ListedOperator] {
        try await storage.read(sql.operators.list())
    }

    /// Nil if there is no such operator.
    package func operatorID(named name: String) async throws(StorageError) -> OperatorID? {
        try await storage.read(sql.operators.find(name)).first
    }

    /// - Returns: nil if the name is taken.
    package func createOperator(_ name: String, _ role: OperatorRole) async throws(StorageError) -> OperatorID? {
        try await storage.write(sql.operators.create((name, role))).rows.first
    }

    /// Commands that already run keep the role with which they began.
    ///
    /// - Returns: false if there is no such operator.
    package func setRole(_ role: OperatorRole, ofOperator name: String) async throws(StorageError) -> Bool {
        try await !storage.writeRepeatably(sql.operators.setRole((name, role))).isEmpty
    }

    /// Deletes an operator with all credentials. Servers look at those of open channels every few seconds.
    ///
    /// - Returns: false if there is no such operator.
    package func deleteOperator(_ name: String) async throws(StorageError) -> Bool {
        try await !storage.write(sql.operators.delete(name)).isEmpty
    }

    /// Stores the SHA-256 of a credential. The credential itself is shown once and never stored.
    package func issueOperatorCredential(
        hash: [UInt8], label: String, expiresAt: Timestamp?, for id: OperatorID
    ) async throws(StorageError) -> OperatorCredentialID {
        let issued = try await storage.write(sql.operators.issue((id, hash, label, expiresAt)))
        guard let id = issued.rows.first else { throw StorageError(.rejected, detail: "issue_operator_credential") }
        return id
    }

    /// - Returns: false if there is no such credential, or if it was revoked before.
    package func revokeOperatorCredential(_ id: OperatorCredentialID) async throws(StorageError) -> Bool {
        try await !storage.write(sql.operators.revoke(id)).isEmpty
    }

    /// Oldest first.
    package func operatorCredentials(of id: OperatorID) async throws(StorageError) -> [ListedOperatorCredential] {
        try await storage.read(sql.operators.credentials(id))
    }

    /// Who has this credential; nil if nobody has it, or if it is not valid any more.
    package func signIn(credentialHash: [UInt8], now: Timestamp) async throws(StorageError) -> SignedInOperator? {
        try await storage.read(sql.operators.signIn((credentialHash, now))).first
    }

    /// The account that has this credential; nil if none has it, if it is not valid any more, or if the account is disabled.
    package func signInAccount(credentialHash: [UInt8], now: Timestamp) async throws(StorageError) -> SignedInAccount? {
        try await storage.read(sql.operators.signInAccount((credentialHash, now))).first.map {
            SignedInAccount(account: $0.account, credential: $0.credential, credentialHash: credentialHash)
        }
    }

    /// Those of the credentials that are still valid, with the roles that they give.
    package func validOperatorCredentials(
        among credentials: [OperatorCredentialID], now: Timestamp
    ) async throws(StorageError) -> [OperatorCredentialID: OperatorRole] {
        let rows = try await storage.read(sql.operators.valid((credentials, now)))
        return Dictionary(rows.map { ($0.id, $0.role) }) { first, _ in first }
    }
}
