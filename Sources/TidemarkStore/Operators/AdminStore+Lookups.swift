// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
internal import TidemarkPostgres
package import TidemarkService

/// What a command looks up before it says what it would do. The command itself decides again.
extension AdminStore {
    /// How a device stands with an account.
    package enum DeviceStanding: Sendable, Equatable {
        case missing, listed, revoked
    }

    /// `missing` for a device that the account does not have, also if another account has it.
    package func standing(of device: AccountDevice) async throws(StorageError) -> DeviceStanding {
        switch try await storage.read(sql.lookups.deviceIsRevoked(device)).first {
        case nil: .missing
        case false?: .listed
        case true?: .revoked
        }
    }

    /// Whether there is such a credential of an account, and it is not revoked.
    package func canRevoke(_ id: CredentialID) async throws(StorageError) -> Bool {
        try await !storage.read(sql.lookups.credential(id)).isEmpty
    }

    /// The same of an operator's.
    package func canRevoke(_ id: OperatorCredentialID) async throws(StorageError) -> Bool {
        try await !storage.read(sql.lookups.operatorCredential(id)).isEmpty
    }

    /// The account whose address it is; nil: nobody's.
    ///
    /// - Parameter address: in its normal form.
    package func owner(ofAddress address: String, kind: AddressKind) async throws(StorageError) -> AccountID? {
        try await storage.read(sql.identities.ownerOfAddress((kind, address))).first
    }

    /// What ``link(_:to:)`` would answer.
    package func outlook(
        ofLinking identity: StoredIdentity, to account: AccountID
    ) async throws(StorageError) -> IdentityLink {
        guard let owner = try await storage.read(sql.identities.owner((identity.issuer, identity.subject))).first
        else { return .done }
        guard owner.account == account else { return .belongsToAnother }
        return owner.revokedAt == nil ? .unchanged : .revoked
    }

    /// Whether servers keep keys of the account's encrypted values.
    package func hasKeys(_ account: AccountID) async throws(StorageError) -> Bool {
        try await !storage.read(sql.keys.accountKeys(account)).isEmpty
    }

    /// Tells the master key of the servers; nil: they have none yet.
    package func masterKeyCheck() async throws(StorageError) -> [UInt8]? {
        try await storage.read(sql.lookups.masterKeyCheck()).first ?? nil
    }
}

/// The SQL of what is looked up before a change.
struct LookupStatements: Sendable {
    let deviceIsRevoked = DeclaredStatement<AccountDevice, Bool>(
        .read, "lookup_device",
        "SELECT revoked_at IS NOT NULL AS is_revoked FROM device WHERE account_id = \(\.account) AND id = \(\.device)"
    ) { row throws(PostgresError) in try row["is_revoked"] }

    let credential = DeclaredStatement<CredentialID, Void>(
        .read, "lookup_credential", "SELECT 1 FROM credential WHERE id = \(\.self) AND revoked_at IS NULL")

    let operatorCredential = DeclaredStatement<OperatorCredentialID, Void>(
        .read, "lookup_operator_credential",
        "SELECT 1 FROM operator_credential WHERE id = \(\.self) AND revoked_at IS NULL")

    let masterKeyCheck = DeclaredStatement<Void, [UInt8]?>(
        .read, "lookup_master_key_check", "SELECT master_key_check FROM store")
}
