// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
internal import TidemarkPostgres
package import TidemarkService

extension AdminStore {
    /// A row of the operator's list of accounts.
    package struct Account: Sendable {
        package let id: AccountID
        package let name: String
        package let createdAt: Timestamp
        package let credentialCount: Int
        package let deviceCount: Int
        package let encryptionMode: EncryptionMode
        /// Nil: the account has none.
        package let personName: PersonName?
        /// Nil: it may sign in.
        package let disabledAt: Timestamp?
    }

    /// A row of the operator's list of an account's credentials.
    package struct ListedCredential: Sendable {
        package let id: CredentialID
        package let label: String
        package let createdAt: Timestamp
        package let expiresAt: Timestamp?
        package let revokedAt: Timestamp?
    }

    /// A row of the operator's list of an account's devices.
    package struct ListedDevice: Sendable {
        package let id: DeviceID
        package let name: String
        package let firstSeenAt: Timestamp
        package let lastSeenAt: Timestamp
        /// Nil: it may sign in.
        package let revokedAt: Timestamp?
    }

    /// - Returns: nil if the name is taken.
    package func createAccount(_ name: String) async throws(StorageError) -> AccountID? {
        try await storage.write(sql.accounts.createAccount(name)).rows.first
    }

    /// Nil if no account has the name, in the same upper and lower case. A disabled one is found too.
    package func account(named name: String) async throws(StorageError) -> AccountID? {
        try await storage.read(sql.accounts.findAccount(name)).first
    }

    /// A page, by name: there may be very many.
    ///
    /// - Parameter name: only those after it; empty: from the beginning.
    package func accounts(after name: String, countMax: Int) async throws(StorageError) -> [Account] {
        try await storage.read(sql.accounts.listAccounts((name, countMax)))
    }

    /// All, by name.
    package func accounts() async throws(StorageError) -> [Account] {
        var accounts: [Account] = []
        while true {
            let page = try await self.accounts(after: accounts.last?.name ?? "", countMax: Self.accountsOfPage)
            accounts += page
            guard page.count == Self.accountsOfPage else { return accounts }
        }
    }

    private static let accountsOfPage = 1_000

    /// Nil if there is no such account.
    package func account(shownAs name: String) async throws(StorageError) -> Account? {
        try await storage.read(sql.accounts.showAccount(name)).first
    }

    /// Sets the name of an account's person; nil: it has none any more. Servers keep no names, so they need not hear of
    /// it. Repeating it does no harm.
    package func setPersonName(_ name: PersonName?, of account: AccountID) async throws(StorageError) {
        let (given, family) = (name?.storedGiven, name?.storedFamily)
        _ = try await storage.writeRepeatably(sql.accounts.setPersonName((account, given, family)))
    }

    /// Stores the SHA-256 of a credential. The credential itself is shown once and never stored.
    package func issueCredential(
        hash: [UInt8], label: String, expiresAt: Timestamp?, for account: AccountID
    ) async throws(StorageError) -> CredentialID {
        let issued = try await storage.write(sql.accounts.issueCredential((account, hash, label, expiresAt)))
        guard let id = issued.rows.first else { throw StorageError(.rejected, detail: "issue_credential") }
        return id
    }

    /// Revokes a credential, and tells every server to close the connections that it opened.
    ///
    /// - Returns: false if there is no such credential, or if it was revoked before.
    package func revokeCredential(_ id: CredentialID) async throws(StorageError) -> Bool {
        guard try await !storage.write(sql.accounts.revokeCredential(id)).isEmpty else { return false }
        try await storage.post([.credentialRevoked(id)])
        return true
    }

    /// Oldest first.
    package func credentials(of account: AccountID) async throws(StorageError) -> [ListedCredential] {
        try await storage.read(sql.accounts.listCredentials(account))
    }

    /// The device that was seen last comes first.
    package func devices(of account: AccountID) async throws(StorageError) -> [ListedDevice] {
        try await storage.read(sql.accounts.listDevices(account))
    }
}
