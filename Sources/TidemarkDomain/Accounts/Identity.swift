// SPDX-License-Identifier: Apache-2.0

/// The account of a connection, once its credential has been checked against a container.
package struct Identity: Sendable, Equatable {
    package let account: AccountID
    package let credential: CredentialID
    package let credentialExpiresAt: Timestamp?
    package let container: ContainerID
    package let user: UserID
    /// `_` and 32 hexadecimal digits.
    package let userRecordName: String
    package let privateDatabase: DatabaseID
    /// It owns no rows: its zones are those of other owners that are shared with the user.
    package let sharedDatabase: DatabaseID
    /// Whether the container gave its default zones a feed, beyond CloudKit, when the identity was read.
    package let feedsEverywhere: Bool
    /// An operator's choices for the account in this container, when they were last read.
    package var limits: AccountLimits
    /// The quota of the private database and its use when the identity was read; nil: there is no quota.
    package let quota: QuotaStanding?

    package init(
        account: AccountID, credential: CredentialID, credentialExpiresAt: Timestamp?, container: ContainerID,
        user: UserID, userRecordName: String, privateDatabase: DatabaseID, sharedDatabase: DatabaseID,
        feedsEverywhere: Bool = false, limits: AccountLimits = AccountLimits(), quota: QuotaStanding? = nil
    ) {
        self.account = account
        self.credential = credential
        self.credentialExpiresAt = credentialExpiresAt
        self.container = container
        self.user = user
        self.userRecordName = userRecordName
        self.privateDatabase = privateDatabase
        self.sharedDatabase = sharedDatabase
        self.feedsEverywhere = feedsEverywhere
        self.limits = limits
        self.quota = quota
    }

    /// The same with another end of the credential: that of the token that was shown.
    package func until(_ end: Timestamp) -> Identity {
        Identity(
            account: account, credential: credential, credentialExpiresAt: end, container: container, user: user,
            userRecordName: userRecordName, privateDatabase: privateDatabase, sharedDatabase: sharedDatabase,
            feedsEverywhere: feedsEverywhere, limits: limits, quota: quota)
    }
}

/// Identifies one credential of an account, so that an operator can list and revoke it.
package struct CredentialID: Hashable, Sendable {
    package let rawValue: Int64
    package init(_ rawValue: Int64) { self.rawValue = rawValue }
}

/// One device of an account.
package struct AccountDevice: Hashable, Sendable {
    package let account: AccountID
    package let device: DeviceID

    package init(account: AccountID, device: DeviceID) {
        self.account = account
        self.device = device
    }
}
