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

    /// A handler whose first call lasts until the test ends it.
    private final class SlowHandler: Sendable {
        let heard = Heard()
        private let gate = AsyncStream<Void>.makeStream()
        private let isFirst = Mutex(true)

        func handle(_ userInfo: [AnyHashable: Any]) async {
            heard.add(userInfo)
            let waits = isFirst.withLock { isFirst in
                defer { isFirst = false }
                return isFirst
            }
            if waits { for await _ in gate.stream { break } }
        }

        func goOn() { gate.continuation.yield() }
    }

    /// One whose first call, of the record "1", is under way.
    private func listenSlowly() async throws -> SlowHandler {
        let slow = SlowHandler()
        container.handleRemoteNotifications { await slow.handle($0) }
        try await eventually {
            scheduler.runUntilIdle()
            return server.openCount == 1 && server.log.contains("alice hello")
        }
        server.push(Self.query("q", "1"))
        try await eventually {
            scheduler.runUntilIdle()
            return slow.heard.all == ["q 2 1"]
        }
        return slow
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

    @Test func `R-289: what waited for a handler goes to the one that replaces it, once`() async throws {
        let slow = try await listenSlowly()
        server.push(Self.query("q", "2"))
        server.push(Self.database("all", in: .private))
        scheduler.runUntilIdle()
        let heard = Heard()
        // One comes while the handlers change.
        server.push(Self.query("q", "3"))
        container.handleRemoteNotifications { heard.add($0) }
        scheduler.runUntilIdle()
        #expect(heard.all == [], "the call under way ends first")
        slow.goOn()
        try await hears(heard, ["q 2 2", "all", "q 2 3"])
        server.push(Self.query("q", "4"))
        try await hears(heard, ["q 2 4"])
        #expect(slow.heard.all == ["q 2 1"])
        // Nobody, and then somebody: what came meanwhile is not told.
        container.handleRemoteNotifications(with: nil)
        server.push(Self.query("q", "5"))
        scheduler.runUntilIdle()
        container.handleRemoteNotifications { heard.add($0) }
        server.push(Self.query("q", "6"))
        try await hears(heard, ["q 2 6"])
    }

    @Test func `R-290: what waited is not told once somebody else has signed in`() async throws {
        let slow = try await listenSlowly()
        server.push(Self.query("q", "2"))
        scheduler.runUntilIdle()
        // On its way to the observers.
        server.push(Self.query("q", "3"))
        container.signIn(token: "bob")
        slow.goOn()
        try await eventually {
            scheduler.runUntilIdle()
            return server.log.contains("bob hello") && server.openCount == 1
        }
        server.push(Self.query("q", "bob's"))
        try await eventually {
            scheduler.runUntilIdle()
            return slow.heard.all.count >= 2
        }
        #expect(slow.heard.all == ["q 2 1", "q 2 bob's"])
    }

    @Test func `R-159, R-290: nor if the server names another user for the same credential`() async throws {
        let slow = try await listenSlowly()
        server.push(Self.query("q", "2"))
        scheduler.runUntilIdle()
        server.answer { envelope in
            guard case .hello? = envelope.request else { return nil }
            var answer = WireHelloAnswer()
            (answer.userRecordName, answer.memoryEpoch) = ("_carol", 1)
            return .hello(answer)
        }
        server.cut()
        try await eventually {
            scheduler.advance(by: .seconds(1))
            return container.context.connection.userRecordName == "_carol"
        }
        slow.goOn()
        server.push(Self.query("q", "carol's"))
        try await eventually {
            scheduler.runUntilIdle()
            return slow.heard.all.count >= 2
        }
        #expect(slow.heard.all == ["q 2 1", "q 2 carol's"])
    }

    @Test func `R-297: a handler is called though the app keeps no CKContainer`() throws {
        let identifier = "iCloud.test.\(UUID().uuidString)"
        weak var container: CKContainer?
        weak var context: CloudContext?
        do {
            let made = CKContainer(identifier: identifier)
            (container, context) = (made, made.context)
            made.handleRemoteNotifications { _ in }
        }
        #expect(container == nil)
        let kept = try #require(context)
        #expect(kept.courier(making: false)?.hasHandler == true && CKContainer(identifier: identifier).context === kept)
        CKContainer(identifier: identifier).handleRemoteNotifications(with: nil)
        #expect(kept.courier(making: false)?.hasHandler == false)
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
