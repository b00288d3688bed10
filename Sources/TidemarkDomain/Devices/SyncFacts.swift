// SPDX-License-Identifier: Apache-2.0

/// The store's data of an account, for an operator who asks why sync is stuck.
package struct AccountFacts: Sendable, Equatable {
    /// A credential of the account.
    package struct CredentialFacts: Sendable, Equatable {
        package let id: CredentialID
        package let expiresAt: Timestamp?
        package let revokedAt: Timestamp?

        package init(id: CredentialID, expiresAt: Timestamp?, revokedAt: Timestamp?) {
            self.id = id
            self.expiresAt = expiresAt
            self.revokedAt = revokedAt
        }

        func isExpired(at now: Timestamp) -> Bool { expiresAt.map { $0 <= now } ?? false }
    }

    /// Whether an operator has disabled the account.
    package var isDisabled: Bool
    package var credentials: [CredentialFacts]
    /// How full the databases are that have a quota.
    package var uses: [StorageUse]

    package init(isDisabled: Bool = false, credentials: [CredentialFacts] = [], uses: [StorageUse] = []) {
        self.isDisabled = isDisabled
        self.credentials = credentials
        self.uses = uses
    }
}

/// The store's data of one device.
package struct DeviceFacts: Sendable, Equatable {
    package let device: DeviceID
    /// As the device named itself, with its program and that one's version.
    package let name: String
    package let firstSeenAt: Timestamp
    package let lastSeenAt: Timestamp
    /// When a server wrote down `progress`. Nil: none did, or it was forgotten.
    package let notedAt: Timestamp?
    package let progress: DeviceProgress?
    /// The device's place in each feed where it is known.
    package var places: [PlaceFacts]
    /// Whether the server of its last connection was asked just now, and is not there any more.
    package var isServerGone = false

    package init(
        device: DeviceID, name: String, firstSeenAt: Timestamp, lastSeenAt: Timestamp, notedAt: Timestamp?,
        progress: DeviceProgress?, places: [PlaceFacts] = []
    ) {
        self.device = device
        self.name = name
        self.firstSeenAt = firstSeenAt
        self.lastSeenAt = lastSeenAt
        self.notedAt = notedAt
        self.progress = progress
        self.places = places
    }

    /// How old facts of an open connection may be. A server writes them down again after a quarter of an hour.
    private static let linkAgeMax: Int64 = 35 * 60_000

    /// Whether the device is connected, as far as that is known.
    package func isConnected(at now: Timestamp) -> Bool {
        guard let link = progress?.link, link.endedAt == nil, let notedAt, !isServerGone else { return false }
        return now.milliseconds - notedAt.milliseconds <= Self.linkAgeMax
    }

    /// When the device was last known to be connected.
    package var lastConnectedAt: Timestamp {
        guard let link = progress?.link else { return lastSeenAt }
        return max(lastSeenAt, link.endedAt ?? max(link.since, notedAt ?? link.since))
    }
}

/// How far a device is in one feed, beside that feed's end.
package struct PlaceFacts: Sendable, Equatable {
    /// `private`, `shared` or `public`.
    package let scope: DatabaseScope
    package let container: ContainerKey
    /// Nil: the feed of the database.
    package let zone: String?
    package let progress: FeedProgress
    /// The number of the last change. Nil: the zone has ended, or the database has no feed yet.
    package let head: ChangeNumber?
    /// When the first change was made that the device has not read.
    package let behindSince: Timestamp?

    package init(
        scope: DatabaseScope, container: ContainerKey, zone: String?, progress: FeedProgress, head: ChangeNumber?,
        behindSince: Timestamp?
    ) {
        self.scope = scope
        self.container = container
        self.zone = zone
        self.progress = progress
        self.head = head
        self.behindSince = behindSince
    }

    /// Changes of the zone that the device has not read. Feeds of databases are not counted: they number zones, not changes.
    package var missing: Int64 { zone == nil ? 0 : head.map { progress.missing(upTo: $0) } ?? 0 }
}
