// SPDX-License-Identifier: Apache-2.0

extension Subscription {
    /// The name of a subscription among those of its user.
    package struct Key: Hashable, Sendable {
        package let scope: DatabaseScope
        package let id: String

        package init(scope: DatabaseScope, id: String) {
            self.scope = scope
            self.id = id
        }
    }

    package var key: Key { Key(scope: scope, id: id) }
}

extension Subscription {
    /// The query as it is stored; nil if it has none. To encode a long one takes a while.
    package var queryBytes: [UInt8]? { query?.encoded(zoneName: zoneName) }

    /// What it counts of ``SubscriptionSaves/publicBytesMax``.
    package var publicBytes: Int { scope == .public ? publicBytes(with: queryBytes) : 0 }

    fileprivate func publicBytes(with queryBytes: [UInt8]?) -> Int {
        guard scope == .public, let queryBytes else { return 0 }
        return queryBytes.count + notificationInfo.count
    }
}

/// A subscription as it is stored.
package struct KeptSubscription: Sendable {
    package let subscription: Subscription
    /// For a subscription to a custom zone, or to a query in one: it ends with this incarnation of the zone.
    package let zone: ZoneID?
    /// ``Subscription/queryBytes``, if whoever saves has encoded them.
    package let queryBytes: [UInt8]?

    package init(subscription: Subscription, zone: ZoneID?, queryBytes: [UInt8]? = nil) {
        self.subscription = subscription
        self.zone = zone
        self.queryBytes = queryBytes
    }
}

/// Decides which of one user's subscriptions are saved. Each save is decided as if those before it had been made
///
package struct SubscriptionSaves: Sendable {
    /// Why each save is refused, in their order; nil: it is not.
    package private(set) var refusals: [FailureReason?] = []
    /// The subscriptions to store. If several saves have one ID, it is the last one that is not refused.
    package private(set) var stored: [Subscription.Key: KeptSubscription] = [:]

    /// Bytes of the queries and notification infos of a user's subscriptions to a public database, as they are stored. All who write
    /// there have them in memory, so a few users must not fill the room of all. A user's 250 of usual length have a half.
    package static let publicBytesMax = 131_072

    /// - Parameters:
    ///   - encoded: ``Subscription/queryBytes`` of each save. Nil: they are not stored as bytes.
    ///   - kept: the subscriptions that the user has, each with what it counts of ``publicBytesMax``.
    ///   - zones: the living zones of the user's private database, at least those that the saves name.
    ///   - countMax: how many subscriptions the user may have afterwards.
    package init(
        _ saves: [Subscription], encoded: [[UInt8]?]? = nil, kept: [Subscription.Key: Int],
        zones: [String: ZoneID], atMost countMax: Int
    ) {
        var kept = kept
        var byteCount = kept.values.reduce(0, +)
        for (index, save) in saves.enumerated() {
            let queryBytes = encoded?[index]
            let publicBytes = encoded == nil ? save.publicBytes : save.publicBytes(with: queryBytes)
            let zone = save.endingZoneName.flatMap { zones[$0] }
            let replaced = kept[save.key]
            let growth = publicBytes - (replaced ?? 0)
            if save.endingZoneName != nil, zone == nil {
                refusals.append(.zoneNotFound)
            } else if kept.count - (replaced == nil ? 0 : 1) >= countMax {
                refusals.append(.tooManySubscriptions)
            } else if growth > 0, byteCount + growth > Self.publicBytesMax {
                refusals.append(.tooManySubscriptions)
            } else {
                refusals.append(nil)
                kept[save.key] = publicBytes
                byteCount += growth
                stored[save.key] = KeptSubscription(subscription: save, zone: zone, queryBytes: queryBytes)
            }
        }
    }
}
