// SPDX-License-Identifier: Apache-2.0

/// A user's subscription to changes in one of their databases.
package struct Subscription: Sendable, Equatable {
    package let id: String
    package let scope: DatabaseScope
    package let kind: Kind
    /// If set, only changes of this record type count.
    package let recordType: String?
    /// The zone of a zone subscription, or the one zone that a query looks at; nil: none in particular.
    package let zoneName: String?
    /// The client's notification info. The server stores it unread.
    package let notificationInfo: [UInt8]
    /// The query of a query subscription; nil for other kinds.
    package let query: SubscriptionQuery?
    /// Whether it fired once and has therefore ended. Only devices that connect get it.
    package let hasFired: Bool

    /// For how many days a subscription that has fired once is known.
    package static let firedDaysMax = 30
    /// The number of them that a user has at least. If there are more, the next save keeps the last ones.
    package static let firedCountMax = 100

    /// CloudKit's kinds of subscriptions. The raw value is stored.
    package enum Kind: Int16, Sendable {
        case query = 1
        case recordZone = 2
        case database = 3
    }

    package init(
        id: String, scope: DatabaseScope, kind: Kind, recordType: String?, zoneName: String? = nil,
        notificationInfo: [UInt8], query: SubscriptionQuery? = nil, hasFired: Bool = false
    ) {
        self.id = id
        self.scope = scope
        self.kind = kind
        self.recordType = recordType
        self.zoneName = zoneName
        self.notificationInfo = notificationInfo
        self.query = query
        self.hasFired = hasFired
    }
}

extension Subscription {
    /// The same after it has fired once.
    package var fired: Subscription {
        Subscription(
            id: id, scope: scope, kind: kind, recordType: recordType, zoneName: zoneName,
            notificationInfo: notificationInfo, query: query, hasFired: true)
    }
}

/// A query subscription, with its user: whom to tell of changes in a database.
package struct WatchingSubscription: Sendable, Equatable {
    package let user: UserID
    package let container: ContainerID
    package let subscription: Subscription

    package init(user: UserID, container: ContainerID, subscription: Subscription) {
        self.user = user
        self.container = container
        self.subscription = subscription
    }

    package var key: SubscriberKey { SubscriberKey(user: user, key: subscription.key) }
}

/// The name of a subscription among those of all users.
package struct SubscriberKey: Hashable, Sendable {
    package let user: UserID
    package let key: Subscription.Key

    package init(user: UserID, key: Subscription.Key) {
        self.user = user
        self.key = key
    }
}

/// Query subscriptions of one database, by user, scope and ID.
package struct WatchingPage: Sendable, Equatable {
    package let subscriptions: [WatchingSubscription]
    /// The key after which the next page begins. It may be the key of a subscription that this server cannot read. Nil: there are no more.
    package let next: SubscriberKey?

    package init(subscriptions: [WatchingSubscription], next: SubscriberKey?) {
        self.subscriptions = subscriptions
        self.next = next
    }
}
