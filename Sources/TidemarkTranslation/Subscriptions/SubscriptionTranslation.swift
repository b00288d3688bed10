// SPDX-License-Identifier: Apache-2.0

internal import TidemarkBytes
package import TidemarkDomain
package import TidemarkWire

extension Subscription {
    /// A subscription that a client wants to save. The rules decide whether its database can have it.
    ///
    /// - Parameter search: what a query subscription looks for (``WireSubscription/search(by:limits:)``). Nil for other kinds.
    /// - Throws: ``Refusal`` with `subscriptionInvalid` for an unknown kind, and for desired keys.
    package init(
        _ subscription: WireSubscription, scope: DatabaseScope, for search: RecordsSearch? = nil
    ) throws(Refusal) {
        guard let kind = Kind(subscription.kind) else {
            throw Refusal(.subscriptionInvalid, "There is no such kind of subscription.")
        }
        guard kind == .query || subscription.notificationInfo.desiredKeys.isEmpty else {
            throw Refusal(.subscriptionInvalid, "cannot add additionalFields to this subscription type")
        }
        guard subscription.notificationInfo.desiredKeys.count <= NotificationInfo.desiredKeysMax else {
            throw Refusal(
                .subscriptionInvalid,
                "A push brings at most \(NotificationInfo.desiredKeysMax) desired keys. Name fewer.")
        }
        guard kind == .query || (subscription.predicate.isEmpty && subscription.options == 0) else {
            throw Refusal(.subscriptionInvalid, "Only a subscription to a query has a predicate and options.")
        }
        self.init(
            id: subscription.id, scope: scope, kind: kind,
            recordType: subscription.recordType.isEmpty ? nil : subscription.recordType,
            zoneName: subscription.hasZone ? subscription.zone.name : nil,
            notificationInfo: subscription.notificationInfo.encoded,
            query: search.map {
                SubscriptionQuery(
                    database: $0.database, predicate: $0.query.predicate,
                    options: SubscriptionQuery.Options(rawValue: subscription.options),
                    predicateBytes: subscription.predicate)
            })
    }
}

extension WireSubscription {
    /// What a query subscription looks for, as a query; nil for other kinds.
    ///
    /// - Throws: ``Refusal``, as a query does: `zoneNotFound`, `queryTooLarge`, `requestInvalid`.
    package func search(by viewpoint: Viewpoint, limits: Limits) throws(Refusal) -> RecordsSearch? {
        guard kind == .query else { return nil }
        var request = WireQueryRecords()
        request.query.recordType = recordType
        if hasZone { request.query.zone = zone }
        if !predicate.isEmpty {
            guard predicate.count <= limits.subscriptionPredicateBytesMax else { throw Refusal(.queryTooLarge) }
            guard let read = try? WirePredicate(reading: predicate) else {
                throw Refusal(.requestInvalid, "The predicate of the subscription cannot be read.")
            }
            request.query.predicate = read
        }
        return try RecordsSearch(request, by: viewpoint, limits: limits)
    }
}

extension Subscription.Kind {
    fileprivate init?(_ kind: WireSubscriptionKind) {
        switch kind {
        case .query: self = .query
        case .recordZone: self = .recordZone
        case .database: self = .database
        case .unspecified, .unrecognized: return nil
        }
    }
}

extension WireSubscriptionKind {
    init(_ kind: Subscription.Kind) {
        switch kind {
        case .query: self = .query
        case .recordZone: self = .recordZone
        case .database: self = .database
        }
    }
}

extension WireSubscription {
    init(_ subscription: Subscription, seenFrom viewpoint: Viewpoint) {
        self.init()
        id = subscription.id
        kind = WireSubscriptionKind(subscription.kind)
        recordType = subscription.recordType ?? ""
        if let zoneName = subscription.zoneName {
            zone = WireZoneID(ownZone: zoneName)
        }
        if let query = subscription.query {
            predicate = query.predicateBytes
            options = query.options.rawValue
        }
        // The initialiser above wrote what is stored. If it cannot be read, the subscription is silent.
        if !subscription.notificationInfo.isEmpty,
            let info = try? WireNotificationInfo(reading: subscription.notificationInfo)
        {
            notificationInfo = info
        }
    }
}

extension WireModifySubscriptionsAnswer {
    /// An answer to which the results of the saves are added, in their order.
    package init(deletes: [Result<Void, FailureReason>]) {
        self.init()
        self.deletes = deletes.map { result in
            switch result {
            case .success: .success
            case .failure(let reason): WireSubscriptionResult(Refusal(reason))
            }
        }
    }

    /// Adds the result of a save. To read and write a long subscription takes a while.
    package mutating func append(
        _ saved: Result<Subscription, FailureReason>, seenFrom viewpoint: Viewpoint, within limits: Limits
    ) {
        saves.append(WireSubscriptionResult(saved, seenFrom: viewpoint, within: limits))
    }

    /// Adds a save that was refused when it was read.
    package mutating func append(_ refusal: Refusal) { saves.append(WireSubscriptionResult(refusal)) }
}

extension WireSubscriptionResult {
    fileprivate static var success: Self {
        var result = Self()
        result.done = WireDone()
        return result
    }

    init(_ result: Result<Subscription, FailureReason>, seenFrom viewpoint: Viewpoint, within limits: Limits) {
        switch result {
        case .success(let subscription):
            self.init()
            self.subscription = WireSubscription(subscription, seenFrom: viewpoint)
        case .failure(let reason): self.init(Refusal(reason).within(limits))
        }
    }

    fileprivate init(_ refusal: Refusal) {
        self.init()
        failure = refusal.code.wire(detail: refusal.detail)
    }
}

extension WirePush {
    /// The push of a subscription.
    ///
    /// - Parameters:
    ///   - zones: those that changed. Empty: not known. If the viewpoint does not know the owner of one, no zone is named, so
    ///     that the device asks which have changed.
    ///   - isShown: whether the user may be shown something. Not if it is unknown whether anything has changed.
    package init(
        _ subscription: Subscription, zones: [ZoneKey], isShown: Bool = false, seenFrom viewpoint: Viewpoint
    ) {
        self.init(subscription)
        // That anything may have changed says nothing of a record.
        if subscription.kind == .query { isPruned = true }
        if isShown, let info = WireNotificationInfo(of: subscription), NotificationInfo(info).isVisible {
            alert = info
            alert.desiredKeys = []
        }
        self.zones = (try? zones.map { try WireZoneID($0, seenFrom: viewpoint) }) ?? []
    }
}
