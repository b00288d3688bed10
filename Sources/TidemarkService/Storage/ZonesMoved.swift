// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain

/// "Zone Z of database D changed": the message of a server to the others after a commit. For a shared database: its list of zones, or its
/// subscriptions, have changed.
package struct ZoneNotice: Sendable, Hashable {
    package let database: DatabaseID
    /// The life of the device that made the change, which gets no push (R-248), as ``RecordsRequest/memoryLife``.
    /// `nobody` if several lives made changes, or an operator did: then all devices get a push.
    package let life: DeviceID
    /// Empty if the set of zones changed rather than a zone's records.
    package let zoneName: String
    /// Whether the zone's shares changed too, so that some users may have lost or regained access.
    package let changesShares: Bool

    package init(database: DatabaseID, life: DeviceID, zoneName: String, changesShares: Bool = false) {
        self.database = database
        self.life = life
        self.zoneName = zoneName
        self.changesShares = changesShares
    }
}

/// A number by which a server knows whether anything changed in a database.
package struct ChangeMark: Sendable, Equatable {
    /// The sum of its zones' change numbers, and of zone creations and ends. For a shared database: a hash of its zones and their numbers,
    /// which can only be compared.
    package let value: Int64
    /// The zones that were read for it, with those that have ended. For a shared database: all zones in its list.
    package let zoneCount: Int

    package init(value: Int64, zoneCount: Int) {
        self.value = value
        self.zoneCount = zoneCount
    }
}

/// The changes of a commit, for pushes to connected devices and notices to other servers.
package struct ZonesMoved: Sendable {
    package var notices: [ZoneNotice]
    /// The changes in some of these zones.
    package var news: [ZoneNews]
    /// How much the mark of each database grew (``ChangeMark/value``). Not known for databases that are not in it.
    package var growth: [DatabaseID: Int64]
    /// Query subscriptions that changes have fired. They come later than the notices of the same changes.
    package var fired: [QueryFiring]
    /// The types of the records that changed in each zone (R-262). An empty name stands for the set of zones. Other servers do
    /// not say it: of a zone that is not in it records of any type may have changed.
    package var types: [ZoneKey: ChangedTypes]
    /// Changes of public databases that have fired all that they fire.
    package var evaluated: [EvaluatedChanges]

    package init(
        _ notices: [ZoneNotice], news: [ZoneNews] = [], growth: [DatabaseID: Int64] = [:], fired: [QueryFiring] = [],
        types: [ZoneKey: ChangedTypes] = [:], evaluated: [EvaluatedChanges] = []
    ) {
        self.notices = notices
        self.news = news
        self.growth = growth
        self.fired = fired
        self.types = types
        self.evaluated = evaluated
    }

    /// The changed types in the zone of a notice.
    package func types(of notice: ZoneNotice) -> ChangedTypes {
        guard !types.isEmpty else { return .any }
        return types[ZoneKey(database: notice.database, name: notice.zoneName)] ?? .any
    }
}

/// A query subscription that is to be pushed to the devices of its user (R-245).
package struct QueryFiring: Sendable {
    package let user: UserID
    package let subscription: Subscription
    /// Nil: records of the query may have changed (R-253).
    package let reason: QueryReason?
    package let record: QueryNotification.Record?
    /// The record after the change, or before its deletion. Nil: it is not known here.
    package let version: RecordState?
    /// The life of the device that made the change, which gets no push (R-248). `nobody`: not known.
    package let maker: DeviceID
    /// The user's container, and the data that decides who may read the record. Only the server of the change needs
    /// them.
    var container: ContainerID?
    var creator: UserID?
    var types: Set<String> = []

    package init(
        user: UserID, subscription: Subscription, reason: QueryReason?, record: QueryNotification.Record?,
        version: RecordState?, maker: DeviceID
    ) {
        self.user = user
        self.subscription = subscription
        self.reason = reason
        self.record = record
        self.version = version
        self.maker = maker
    }

    package var key: SubscriberKey { SubscriberKey(user: user, key: subscription.key) }

    /// The notice for other servers. They read the rest, or work without it.
    package var notice: QueryNotice {
        QueryNotice(
            database: subscription.query?.database ?? DatabaseID(0), subscriber: key, reason: reason, record: record,
            maker: maker)
    }
}

/// "Subscription S of user U was fired by record R": what a server tells the others.
package struct QueryNotice: Sendable, Hashable {
    package let database: DatabaseID
    package let subscriber: SubscriberKey
    /// Nil: records of the query may have changed.
    package let reason: QueryReason?
    package let record: QueryNotification.Record?
    package let maker: DeviceID

    package init(
        database: DatabaseID, subscriber: SubscriberKey, reason: QueryReason?, record: QueryNotification.Record?,
        maker: DeviceID
    ) {
        self.database = database
        self.subscriber = subscriber
        self.reason = reason
        self.record = record
        self.maker = maker
    }
}

extension QueryNotice {
    /// Its subject: notices of one subject are posted in their order.
    package var subject: QueryNoticeSubject { QueryNoticeSubject(subscriber: subscriber, record: record) }
}

/// A subscription, and a record that fires it. Without a record: all that its query finds.
package struct QueryNoticeSubject: Sendable, Hashable {
    package let subscriber: SubscriberKey
    package let record: QueryNotification.Record?
}

/// "Everything that these changes of a public database fire has been posted". A server tells it to the others, so that they know whether
/// they have missed anything (R-263).
package struct EvaluatedChanges: Sendable, Hashable {
    package let database: DatabaseID
    package let part: ChangeRanges.Part

    package init(database: DatabaseID, part: ChangeRanges.Part) {
        self.database = database
        self.part = part
    }
}
