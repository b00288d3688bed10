// SPDX-License-Identifier: Apache-2.0

import SessionTestSupport
import TidemarkBytes
import TidemarkDomain
import TidemarkWire

extension TestClient {
    /// A subscription to notes whose text is this, or to all.
    static func query(
        _ id: String, text: String? = nil, _ options: SubscriptionQuery.Options = .changes,
        _ change: (inout WireSubscription) -> Void = { _ in }
    ) -> WireSubscription {
        var subscription = WireSubscription()
        subscription.id = id
        subscription.kind = .query
        subscription.recordType = "Note"
        subscription.options = options.rawValue
        if let text {
            var predicate = WirePredicate()
            predicate.compare.key = "text"
            predicate.compare.operator = .equal
            predicate.compare.value.string = text
            subscription.predicate = predicate.encoded
        }
        change(&subscription)
        return subscription
    }

    @discardableResult
    func subscribe(
        to subscription: WireSubscription, in database: WireDatabaseScope = .private
    ) throws -> WireSubscriptionResult {
        var request = WireModifySubscriptions()
        request.database = database
        request.saves = [subscription]
        let answer = try ask(.modifySubscriptions(request))
        guard case .modifySubscriptions(let results)? = answer, let result = results.saves.first else {
            throw SessionWorld.Unexpected(answer)
        }
        return result
    }

    func unsubscribe(_ id: String, in database: WireDatabaseScope = .private) throws {
        var request = WireModifySubscriptions()
        request.database = database
        request.deletes = [id]
        _ = try ask(.modifySubscriptions(request))
    }

    /// The IDs of the subscriptions of a database.
    func subscriptions(in database: WireDatabaseScope = .private) throws -> [WireSubscription] {
        var request = WireFetchSubscriptions()
        request.database = database
        let answer = try ask(.fetchSubscriptions(request))
        guard case .fetchSubscriptions(let all)? = answer else { throw SessionWorld.Unexpected(answer) }
        return all.subscriptions.map(\.subscription)
    }

    /// Changes a zone of the private database, or the public one.
    func modify(
        _ saves: [WireRecordSave], deleting names: [String] = [], in zone: String = "notes",
        _ database: WireDatabaseScope = .private
    ) throws {
        var request = WireModifyRecords(saving: saves, in: Self.zone(zone), stamp())
        request.database = database
        request.zones[0].deletes = names
        let answer = try ask(.modifyRecords(request))
        guard case .modifyRecords = answer else { throw SessionWorld.Unexpected(answer) }
    }

    /// The pushes of query subscriptions.
    var queryPushes: [WirePush] { pushes.filter { $0.kind == .query } }

    /// What they say of records.
    var queryNews: [String] {
        queryPushes.map { push in
            push.hasQuery
                ? "\(push.subscriptionID) \(push.query.recordName) \(push.query.reason.rawValue)"
                : "\(push.subscriptionID) ?"
        }
    }
}
