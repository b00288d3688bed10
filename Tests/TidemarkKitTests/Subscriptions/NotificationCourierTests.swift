// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import Testing
import TidemarkTestSupport
import TidemarkWire

@testable import TidemarkKit

/// Pushes on their way to an app without an engine.
@Suite struct NotificationCourierTests {
    private let scheduler = ManualScheduler()
    private let server: ScriptedServer
    private let container: CKContainer

    init() {
        server = ScriptedServer(scheduler)
        container = server.container()
    }

    /// What the app's handler heard.
    private final class Heard: Sendable {
        private let lines = Mutex<[String]>([])

        func add(_ userInfo: [AnyHashable: Any]) {
            guard let notification = CKNotification(fromRemoteNotificationDictionary: userInfo) else {
                return lines.withLock { $0.append("not ours") }
            }
            var line = notification.subscriptionID ?? "-"
            if let query = notification as? CKQueryNotification {
                line += " \(query.databaseScope.rawValue) \(query.recordID?.recordName ?? "-")"
            }
            if notification.isPruned { line += " pruned" }
            lines.withLock { $0.append(line) }
        }

        var all: [String] { lines.withLock { $0 } }
        func clear() { lines.withLock { $0 = [] } }
    }

    private func listen() async throws -> Heard {
        let heard = Heard()
        container.handleRemoteNotifications { heard.add($0) }
        try await eventually {
            scheduler.runUntilIdle()
            return server.openCount == 1 && server.log.contains("alice hello")
        }
        return heard
    }

    private func hears(_ heard: Heard, _ lines: [String]) async throws {
        try await eventually {
            scheduler.runUntilIdle()
            return heard.all.count >= lines.count
        }
        #expect(heard.all == lines)
        heard.clear()
    }

    private static func query(_ id: String, _ record: String?, in scope: WireDatabaseScope = .private) -> WirePush {
        var push = WirePush()
        (push.subscriptionID, push.database, push.kind) = (id, scope, .query)
        guard let record else { return push }
        (push.query.reason, push.query.recordName, push.query.zone.name) = (.recordUpdated, record, "Z")
        return push
    }

    private static func database(_ id: String, in scope: WireDatabaseScope) -> WirePush {
        var push = WirePush()
        (push.subscriptionID, push.database, push.kind) = (id, scope, .database)
        return push
    }

    @Test func `R-241, R-257: an app is told of queries of both databases, and of the shared database`() async throws {
        let heard = try await listen()
        server.push(Self.query("q", "r"))
        try await hears(heard, ["q 2 r"])
        server.push(Self.query("q", "r", in: .public))
        try await hears(heard, ["q 1 r"])
        server.push(Self.database("all", in: .shared))
        try await hears(heard, ["all"])
        server.push(Self.query("q", nil))
        try await hears(heard, ["q 2 - pruned"])
    }

    @Test func `R-261, R-889: after a lost push each subscription may have fired, also one that was silent so far`()
        async throws
    {
        server.answer { envelope in
            guard case .fetchSubscriptions(let request)? = envelope.request else { return nil }
            var answer = WireFetchSubscriptionsAnswer()
            let ids: [String] =
                switch request.database {
                case .public: ["news"]
                case .private: ["q", "silent", "all"]
                default: []
                }
            answer.subscriptions = ids.map { id in
                var result = WireSubscriptionResult()
                (result.subscription.id, result.subscription.kind) = (id, id == "all" ? .database : .query)
                (result.subscription.recordType, result.subscription.options) = ("Note", 1)
                return result
            }
            return .fetchSubscriptions(answer)
        }
        let heard = try await listen()
        server.push(Self.query("q", "1"), number: 1)
        try await hears(heard, ["q 2 1"])
        server.push(Self.query("q", "3"), number: 3)
        try await eventually {
            scheduler.runUntilIdle()
            return heard.all.count >= 5
        }
        #expect(Set(heard.all) == ["q 2 - pruned", "q 2 3", "silent 2 - pruned", "all", "news 1 - pruned"])
        #expect(heard.all.count == 5)
    }

    @Test func `R-889: if the server cannot be asked which subscriptions there are, it is asked when it is back`()
        async throws
    {
        server.answer { envelope in
            guard case .fetchSubscriptions? = envelope.request else { return nil }
            var failure = WireFailure()
            failure.code = .zoneBusy
            return .failure(failure)
        }
        let heard = try await listen()
        server.push(Self.query("q", "2"), number: 2)
        try await eventually {
            scheduler.runUntilIdle()
            return server.log.count { $0 == "alice fetchSubscriptions" } >= 3 && heard.all == ["q 2 2"]
        }
        heard.clear()
        server.answer { envelope in
            guard case .fetchSubscriptions(let request)? = envelope.request else { return nil }
            var result = WireSubscriptionResult()
            (result.subscription.id, result.subscription.kind) = ("late", .query)
            (result.subscription.recordType, result.subscription.options) = ("Note", 1)
            var answer = WireFetchSubscriptionsAnswer()
            if request.database == .private { answer.subscriptions = [result] }
            return .fetchSubscriptions(answer)
        }
        server.cut()
        try await eventually {
            scheduler.runUntilIdle()
            if let next = scheduler.nextTimer, heard.all.isEmpty { scheduler.advance(by: next - scheduler.now) }
            return !heard.all.isEmpty
        }
        #expect(heard.all == ["late 2 - pruned"])
    }
}
