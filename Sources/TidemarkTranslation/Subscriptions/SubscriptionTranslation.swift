// SPDX-License-Identifier: Apache-2.0

internal import TidemarkBytes
package import TidemarkDomain
package import TidemarkWire

extension Subscription {
    /// A subscription that a client wants to save. The rules decide whether its database can have it.
    ///
    /// - Throws: ``Refusal`` with `subscriptionInvalid` for an unknown kind, and for desired keys.
    package init(_ subscription: WireSubscription, scope: DatabaseScope) throws(Refusal) {
        guard let kind = Kind(subscription.kind) else {
            throw Refusal(.subscriptionInvalid, "There is no such kind of subscription.")
        }
        guard kind == .query || subscription.notificationInfo.desiredKeys.isEmpty else {
            throw Refusal(.subscriptionInvalid, "cannot add additionalFields to this subscription type")
        }
        self.init(
            id: subscription.id, scope: scope, kind: kind,
            recordType: subscription.recordType.isEmpty ? nil : subscription.recordType,
            zoneName: subscription.hasZone ? subscription.zone.name : nil,
            notificationInfo: subscription.notificationInfo.encoded)
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
    fileprivate init(_ kind: Subscription.Kind) {
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
        // The initialiser above wrote what is stored. If it cannot be read, the subscription is silent.
        if !subscription.notificationInfo.isEmpty,
            let info = try? WireNotificationInfo(reading: subscription.notificationInfo)
        {
            notificationInfo = info
        }
    }
}

extension WireModifySubscriptionsAnswer {
    /// - Parameters:
    ///   - wishes: what the client asked to save, including those that were refused when they were read.
    ///   - saves: the results of the others, in order.
    package init(
        _ wishes: [Result<Subscription, Refusal>], saves: [Result<Subscription, FailureReason>],
        deletes: [Result<Void, FailureReason>], seenFrom viewpoint: Viewpoint, within limits: Limits
    ) {
        self.init()
        var rest = saves[...]
        self.saves = wishes.map { wish in
            switch wish {
            case .success:
                WireSubscriptionResult(rest.popFirst() ?? .failure(.serverFault), seenFrom: viewpoint, within: limits)
            case .failure(let refusal): WireSubscriptionResult(refusal)
            }
        }
        self.deletes = deletes.map { result in
            switch result {
            case .success: .success
            case .failure(let reason): WireSubscriptionResult(Refusal(reason))
            }
        }
    }
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
    /// - Parameter zones: those that changed. Empty: not known. If the viewpoint does not know the owner of one, no zone is
    ///   named, so that the device asks which have changed.
    package init(_ subscription: Subscription, zones: [ZoneKey], seenFrom viewpoint: Viewpoint) {
        self.init()
        subscriptionID = subscription.id
        database = WireDatabaseScope(subscription.scope)
        kind = WireSubscriptionKind(subscription.kind)
        self.zones = (try? zones.map { try WireZoneID($0, seenFrom: viewpoint) }) ?? []
    }
}
