// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
internal import TidemarkPostgres
package import TidemarkService

extension AdminStore {
    /// Where a feed ends.
    struct FeedEnd: Sendable {
        /// The place in the list that was asked for.
        let index: Int
        let scope: DatabaseScope
        let container: ContainerKey
        /// Nil: the feed of the database, or the zone has ended.
        let zone: String?
        /// Nil: the zone has ended, or nobody has read the database's feed yet.
        let head: ChangeNumber?
        let behindSince: Timestamp?
    }

    /// The most devices, databases and users of an account that are looked at. An account has few.
    private static let lookedAtMax = 100

    /// What is known of an account's devices, those that were seen last first.
    package func deviceFacts(of account: AccountID) async throws(StorageError) -> [DeviceFacts] {
        var devices = try await storage.read(sql.devices.facts((account, Self.lookedAtMax)))
        let feeds = devices.flatMap { $0.progress?.feeds ?? [] }
        guard !feeds.isEmpty else { return devices }
        let ends = try await storage.read(sql.devices.places(feeds))
        let byIndex = Dictionary(ends.map { ($0.index, $0) }) { $1 }
        var index = 0
        for place in devices.indices {
            for feed in devices[place].progress?.feeds ?? [] {
                if let end = byIndex[index] { devices[place].places.append(PlaceFacts(feed, at: end)) }
                index += 1
            }
        }
        return devices
    }

    /// What is known of an account as a whole.
    package func accountFacts(of account: AccountID) async throws(StorageError) -> AccountFacts {
        let credentials = try await credentials(of: account).map {
            AccountFacts.CredentialFacts(id: $0.id, expiresAt: $0.expiresAt, revokedAt: $0.revokedAt)
        }
        let uses = try await storage.read(sql.devices.uses((account, Self.lookedAtMax)))
        let ofAccount = try await use(ofAccount: account)
        let isDisabled = try await contents(of: account)?.disabledAt != nil
        return AccountFacts(
            isDisabled: isDisabled, credentials: credentials, uses: [ofAccount].compactMap(\.self) + uses)
    }
}

extension PlaceFacts {
    fileprivate init(_ feed: FeedProgress, at end: AdminStore.FeedEnd) {
        // A zone that has ended has no name any more.
        let zone = feed.zone.map { end.zone ?? "(ended zone \($0.rawValue))" }
        self.init(
            scope: end.scope, container: end.container, zone: zone, progress: feed, head: end.head,
            behindSince: end.behindSince)
    }
}
