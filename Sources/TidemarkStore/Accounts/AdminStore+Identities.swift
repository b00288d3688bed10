// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
internal import TidemarkPostgres
package import TidemarkService

/// How an operator says whose identities of providers belong to which account, for `tidemark admin identities`.
extension AdminStore {
    /// A row of the operator's list of an account's identities.
    package struct ListedIdentity: Sendable {
        package let issuer: String
        package let subject: String
        package let createdAt: Timestamp
        /// By which it is revoked.
        package let credential: CredentialID
        /// Nil: it may sign in.
        package let revokedAt: Timestamp?
    }

    /// What became of the wish to link an identity.
    package enum IdentityLink: Sendable, Equatable {
        case done
        /// It was the account's before.
        case unchanged
        /// It is the account's, and may not sign in: its credential is revoked.
        case revoked
        case belongsToAnother
    }

    /// Oldest first.
    package func identities(of account: AccountID) async throws(StorageError) -> [ListedIdentity] {
        try await storage.read(sql.identities.ofAccount(account))
    }

    /// Lets whoever signs in as this identity use the account. Repeating it does no harm.
    package func link(
        _ identity: StoredIdentity, to account: AccountID
    ) async throws(StorageError) -> IdentityLink {
        let (_, linked, owners) = try await storage.writeRepeatably(
            sql.identities.lock(identity.lock), sql.identities.link((identity.new, account)),
            sql.identities.owner((identity.issuer, identity.subject)))
        guard linked.affectedCount == 0 else { return .done }
        guard let owner = owners.rows.first, owner.account == account else { return .belongsToAnother }
        return owner.revokedAt == nil ? .unchanged : .revoked
    }

    /// Whoever signs in as this identity has no account any more. Servers close the sessions that it opened.
    ///
    /// - Returns: false if it is not the account's.
    package func unlink(
        issuer: String, subject: String, from account: AccountID
    ) async throws(StorageError) -> Bool {
        guard let owner = try await storage.read(sql.identities.owner((issuer, subject))).first,
            owner.account == account,
            try await storage.write(sql.identities.removeCredential((owner.credential, account))).affectedCount > 0
        else { return false }
        try await storage.post([.credentialRevoked(owner.credential)])
        return true
    }
}
