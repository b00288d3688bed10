// SPDX-License-Identifier: Apache-2.0

extension Subscription {
    /// What names a subscription among those of its user.
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

/// A subscription as it is stored.
package struct KeptSubscription: Sendable {
    package let subscription: Subscription
    /// For a subscription to a custom zone, or to a query in one: it ends with this incarnation of the zone.
    package let zone: ZoneID?

    package init(subscription: Subscription, zone: ZoneID?) {
        self.subscription = subscription
        self.zone = zone
    }
}

/// Decides which of one user's subscriptions are saved. Each save is decided as if those before it had been made
///
package struct SubscriptionSaves: Sendable {
    /// Why each save is refused, in their order; nil: it is not.
    package private(set) var refusals: [FailureReason?] = []
    /// What to store. If several saves have one ID, it is the last one that is not refused.
    package private(set) var stored: [Subscription.Key: KeptSubscription] = [:]

    /// - Parameters:
    ///   - kept: the subscriptions that the user has.
    ///   - zones: the living zones of the user's private database, at least those that the saves name.
    ///   - countMax: how many subscriptions the user may have afterwards.
    package init(
        _ saves: [Subscription], kept: some Sequence<Subscription.Key>, zones: [String: ZoneID],
        atMost countMax: Int
    ) {
        var keys = Set(kept)
        for save in saves {
            let zone = save.endingZoneName.flatMap { zones[$0] }
            let otherCount = keys.count - (keys.contains(save.key) ? 1 : 0)
            if save.endingZoneName != nil, zone == nil {
                refusals.append(.zoneNotFound)
            } else if otherCount >= countMax {
                refusals.append(.tooManySubscriptions)
            } else {
                refusals.append(nil)
                keys.insert(save.key)
                stored[save.key] = KeptSubscription(subscription: save, zone: zone)
            }
        }
    }
}
