// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkTestSupport
import TidemarkWire

@testable import TidemarkKit

/// Subscriptions, of which the server sends a page at a time.
@Suite struct CloudDatabaseSubscriptionPagesTests {
    private let scheduler = ManualScheduler()
    private let server: ScriptedServer
    private let database: CKDatabase

    init() {
        server = ScriptedServer(scheduler)
        database = server.container().privateCloudDatabase
    }

    /// The server has these subscriptions, and sends so many at a time. A cursor is the number of those before it.
    private func serve(_ known: [String], atOnce countMax: Int = 2) {
        server.answer { envelope in
            guard case .fetchSubscriptions(let request)? = envelope.request else { return nil }
            let start = Int(request.cursor.first ?? 0)
            let wanted = request.ids.isEmpty ? Array(known.dropFirst(start)) : request.ids
            var answer = WireFetchSubscriptionsAnswer()
            answer.subscriptions = wanted.prefix(countMax).map { id in
                var result = WireSubscriptionResult()
                if known.contains(id) {
                    (result.subscription.id, result.subscription.kind) = (id, .database)
                } else {
                    result.failure.code = .unknownItem
                }
                return result
            }
            if request.ids.isEmpty, wanted.count > countMax { answer.cursor = [UInt8(start + countMax)] }
            return .fetchSubscriptions(answer)
        }
    }

    private var requests: [WireFetchSubscriptions] {
        server.envelopes.compactMap { envelope in
            if case .fetchSubscriptions(let request)? = envelope.request { request } else { nil }
        }
    }

    private func all() throws -> [String] {
        let database = database
        return try scheduler.complete { try await database.allSubscriptions().map(\.subscriptionID) }
    }

    /// What became of each ID.
    private func found(_ ids: [String]) throws -> [String: String] {
        let database = database
        return try scheduler.complete {
            try await database.subscriptions(for: ids).mapValues { result -> String in
                guard case .failure(let error) = result else { return "found" }
                return (error as? CKError)?.code == .unknownItem ? "unknown" : "\(error)"
            }
        }
    }

    @Test func `R-744: all subscriptions are there, however many pages they have`() throws {
        serve(["a", "b", "c", "d", "e"])
        #expect(try all() == ["a", "b", "c", "d", "e"])
        #expect(requests.map(\.cursor) == [[], [2], [4]])
        #expect(requests.allSatisfy { $0.inPages }, "a server must not refuse what is more than a page")
    }

    @Test func `R-744: a server that sends everything at once is asked once`() throws {
        serve(["a", "b", "c"], atOnce: 10)
        #expect(try all() == ["a", "b", "c"])
        #expect(try found(["c", "x", "a"]) == ["a": "found", "c": "found", "x": "unknown"])
        #expect(requests.count == 2)
    }

    @Test func `R-744: each of the named subscriptions has its own result, however many pages they have`() throws {
        serve(["a", "b", "c"])
        let results = try found(["c", "x", "b", "a", "y"])
        #expect(results == ["a": "found", "b": "found", "c": "found", "x": "unknown", "y": "unknown"])
        #expect(requests.map(\.ids) == [["c", "x", "b", "a", "y"], ["b", "a", "y"], ["y"]])
    }

    @Test func `R-744: an operation tells of the subscriptions of all pages`() async throws {
        serve(["a", "b", "c"])
        let operation = CKFetchSubscriptionsOperation.fetchAllSubscriptionsOperation()
        let told = Locked<[String]>([])
        operation.perSubscriptionResultBlock = { id, _ in told.withLock { $0.append(id) } }
        database.add(operation)
        try await eventually {
            scheduler.runUntilIdle()
            return operation.isFinished
        }
        #expect(told.withLock { $0 } == ["a", "b", "c"])
    }

    @Test func `R-744: a server that sends nothing and has more is not asked for ever`() {
        serve(["a", "b"], atOnce: 0)
        let ofAll = #expect(throws: CKError.self) { try all() }
        #expect(ofAll?.code == .internalError)
        let ofSome = #expect(throws: CKError.self) { try found(["a"]) }
        #expect(ofSome?.code == .internalError)
        #expect(requests.count == 2)
    }
}
