// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
internal import TidemarkPostgres
package import TidemarkService

/// A person as an identity provider names them.
package struct StoredIdentity: Sendable, Equatable {
    package let issuer: String
    package let subject: String
    /// Under which it is found, in place of a credential's hash. No credential has it.
    package let key: [UInt8]

    package init(issuer: String, subject: String, key: [UInt8]) {
        self.issuer = issuer
        self.subject = subject
        self.key = key
    }

    /// Bytes of the label that the credential beside it has.
    private static let labelBytesMax = 255

    var new: IdentityStatements.New {
        let label = "sign-in by \(issuer)"
        return (issuer, subject, key, label.utf8.count <= Self.labelBytesMax ? label : "sign-in by a provider")
    }

    /// Of a lock. Two identities that have the same only wait for each other.
    var lock: Int64 { key.suffix(8).reduce(0) { $0 << 8 | Int64($1) } }
}

extension PostgresStorage {
    /// Creates an account for an identity that has none. Servers that do so at the same time make one account.
    ///
    /// - Parameter names: the first one that no account has. If all are taken, nothing is created.
    /// - Returns: whether it was created now.
    package func createAccount(
        for identity: StoredIdentity, named names: (first: String, second: String)
    ) async throws(StorageError) -> Bool {
        let new = identity.new
        let (_, first, second) = try await writeRepeatably(
            sql.identities.lock(identity.lock), sql.identities.createWithAccount((new, names.first)),
            sql.identities.createWithAccount((new, names.second)))
        return first.affectedCount + second.affectedCount > 0
    }

    /// Makes an address one of the account's, as ``AdminStore/addAddress(_:kind:to:)`` does.
    ///
    /// - Returns: false, with nothing changed, if it is another account's.
    package func claim(_ address: PersonAddress, for account: AccountID) async throws(StorageError) -> Bool {
        let kind: AdminStore.AddressKind =
            switch address {
            case .email: .email
            case .phone: .phone
            }
        if let owner = try await read(sql.identities.ownerOfAddress((kind, address.text))).first {
            return owner == account
        }
        return try await writeRepeatably(sql.addresses.add((account, kind, address.text))).affectedCount > 0
    }

    /// Gives a user those of the container's own roles that are in `given`, and takes the others of `known` away. Roles
    /// that the container does not have are left out.
    package func setRoles(
        _ given: Set<String>, among known: Set<String>, of user: UserID
    ) async throws(StorageError) {
        let has = try await roles(of: [user])[user] ?? []
        for name in known.sorted() {
            let isGiven = given.contains(name)
            guard has.contains(.custom(name)) != isGiven else { continue }
            _ = try await setRole(name, of: user, isGiven: isGiven)
        }
    }
}
