// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain

/// What an account is in one container.
package struct AccountUser: Sendable, Equatable {
    package let container: ContainerKey
    package let user: UserID
    package let recordName: String
    package let privateDatabase: DatabaseID
    /// Nil: the user has not signed in since such databases exist.
    package let sharedDatabase: DatabaseID?
}

/// What an account has, without its records.
package struct AccountContents: Sendable, Equatable {
    package let createdAt: Timestamp
    /// Nil: it may sign in.
    package let disabledAt: Timestamp?
    package let encryptionMode: EncryptionMode
    /// Its own quota over all containers; nil: that of all accounts.
    package let quotaBytes: Int64?
    /// Those that open sessions.
    package let credentialCount: Int
    package let deviceCount: Int
    package let addressCount: Int
    package let subscriptionCount: Int
    /// Living zones of its private databases.
    package let zoneCount: Int
    /// Living shares of these zones.
    package let shareCount: Int
    /// Zones of others in its shared databases.
    package let sharedZoneCount: Int
    /// As quotas count them.
    package let recordBytes: Int64
    package let assetBytes: Int64
}

/// What a change of an account or a device did.
package enum AccountChange: Sendable, Equatable {
    case done
    /// It was so already.
    case unchanged
    case missing
}
