// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkTestSupport
import TidemarkWire

@testable import TidemarkKit

/// The subscription on which an engine relies.
@Suite struct EngineCloudSubscriptionTests {
    private let scheduler = ManualScheduler()
    private let server: ScriptedServer

    init() {
        server = ScriptedServer(scheduler)
    }

    /// The ID that an engine finds or makes, if the server has these.
    private func ensured(_ id: String?, having subscriptions: [CKSubscription]) throws -> String {
        let stored = try subscriptions.map { try WireSubscription($0) }
        server.answer { envelope in
            switch envelope.request {
            case .fetchSubscriptions:
                var answer = WireFetchSubscriptionsAnswer()
                answer.subscriptions = stored.map { subscription in
                    var result = WireSubscriptionResult()
                    result.subscription = subscription
                    return result
                }
                return .fetchSubscriptions(answer)
            case .modifySubscriptions(let request):
                var answer = WireModifySubscriptionsAnswer()
                answer.saves = request.saves.map { _ in
                    var result = WireSubscriptionResult()
                    result.done = WireDone()
                    return result
                }
                return .modifySubscriptions(answer)
            default: return nil
            }
        }
        let cloud = server.container().privateCloudDatabase.syncEngineHost.makeCloud(Array(0..<16), nil)
        defer { cloud.close() }
        #expect(try scheduler.complete { try await cloud.currentUser() }?.recordName == "_alice")
        return try scheduler.complete { try await cloud.ensureSubscription(id: id, for: user("alice")) }
    }

    private func database(_ id: String, _ recordType: String? = nil) -> CKDatabaseSubscription {
        let subscription = CKDatabaseSubscription(subscriptionID: id)
        subscription.recordType = recordType
        return subscription
    }

    @Test func `R-247, R-507, R-889: an engine does not rely on a subscription that is of one record type`() throws {
        #expect(try ensured(nil, having: [database("narrow", "Note"), database("wide")]) == "wide")
        #expect(try ensured(nil, having: [database("narrow", "Note")]) == "tidemark-sync-engine")
        #expect(try ensured("narrow", having: [database("narrow", "Note")]) == "narrow", "the app chose it")
    }

    @Test func `R-507: an engine does not rely on a subscription to a query or a zone`() throws {
        let query = CKQuerySubscription(recordType: "Note", predicate: .init(value: true), subscriptionID: "a")
        let zone = CKRecordZoneSubscription(zoneID: CKRecordZone.ID(zoneName: "Z"), subscriptionID: "b")
        #expect(try ensured(nil, having: [query, zone]) == "tidemark-sync-engine")
        #expect(try ensured("a", having: [query, zone]) == "a", "it is replaced by the engine's own")
        #expect(server.log.contains("alice modifySubscriptions"))
    }
}
