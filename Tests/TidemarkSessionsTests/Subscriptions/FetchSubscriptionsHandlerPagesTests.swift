// SPDX-License-Identifier: Apache-2.0

import SessionTestSupport
import Synchronization
import Testing
import TidemarkBytes
import TidemarkDomain
import TidemarkScheduling
import TidemarkTestSupport
import TidemarkTranslation
import TidemarkWire

@testable import TidemarkSessions

/// A user's subscriptions, which come in pages.
@Suite struct FetchSubscriptionsHandlerPagesTests {
    /// Three of those that the tests save fit into a page.
    private let world = SessionWorld { $0.limits.pageSubscriptionBytesMax = 3 * Self.bytesOfOne }

    /// Of a subscription whose ID has one character: each of the messages around it has a byte for its field and one for
    /// its length.
    private static let bytesOfOne = 9

    private func ask(
        _ client: TestClient, ids: [String] = [], after cursor: [UInt8] = [], inPages: Bool = true
    ) throws -> WireServerEnvelope.OneOfAnswer? {
        var request = WireFetchSubscriptions()
        request.database = .private
        request.ids = ids
        request.cursor = cursor
        request.inPages = inPages
        return try client.ask(.fetchSubscriptions(request))
    }

    private func page(
        _ client: TestClient, ids: [String] = [], after cursor: [UInt8] = [], inPages: Bool = true
    ) throws -> (ids: [String], cursor: [UInt8]) {
        let answer = try ask(client, ids: ids, after: cursor, inPages: inPages)
        guard case .fetchSubscriptions(let found)? = answer else { throw SessionWorld.Unexpected(answer) }
        return (found.subscriptions.map { $0.failure.code == .unknownItem ? "?" : $0.subscription.id }, found.cursor)
    }

    private func delete(_ ids: [String], by client: TestClient) throws {
        var request = WireModifySubscriptions()
        request.database = .private
        request.deletes = ids
        _ = try client.ask(.modifySubscriptions(request))
    }

    /// - Parameter meanwhile: happens after each page but the last, with the number of pages until then.
    private func pages(_ client: TestClient, meanwhile: (Int) throws -> Void = { _ in }) throws -> [[String]] {
        var (ids, cursor) = try page(client)
        var pages = [ids]
        while !cursor.isEmpty, pages.count < 100 {
            try meanwhile(pages.count)
            (ids, cursor) = try page(client, after: cursor)
            pages.append(ids)
        }
        return pages
    }

    @Test func `R-242, R-744: all subscriptions come in pages, by ID`() throws {
        let client = try world.enter()
        #expect(try pages(client) == [[]])
        var known: [String] = []
        for id in ["d", "g", "a", "f", "c", "b", "e"] {
            try client.subscribe(id)
            known = (known + [id]).sorted()
            let expected = stride(from: 0, to: known.count, by: 3).map { Array(known[$0...].prefix(3)) }
            #expect(try pages(client) == expected, "a full page is the last one if none is left")
        }
    }

    @Test func `R-744: subscriptions that come and go between two pages make no other be skipped or come twice`()
        throws
    {
        let client = try world.enter()
        for id in ["b", "d", "f", "h", "j", "l", "n"] { try client.subscribe(id) }
        let pages = try pages(client) { count in
            switch count {
            case 1:
                // The last one that was read, another one, and one that was not. Then one on each side.
                try delete(["f", "b", "h"], by: client)
                for id in ["a", "k"] { try client.subscribe(id) }
            case 2: try delete(["n"], by: client)
            default: break
            }
        }
        #expect(pages == [["b", "d", "f"], ["j", "k", "l"], []])
    }

    @Test func `R-744: of subscriptions by ID the first ones come, and a client asks for the rest`() throws {
        let client = try world.enter()
        for id in ["a", "b", "c"] { try client.subscribe(id) }
        let ids = ["c", "a", "b", "a", "x", "b"]
        var (rest, pages) = (ids[...], [[String]]())
        while !rest.isEmpty, pages.count < 100 {
            let (found, cursor) = try page(client, ids: Array(rest))
            #expect(cursor.isEmpty && (1...rest.count).contains(found.count))
            pages.append(found)
            rest = rest.dropFirst(found.count)
        }
        // What is unknown says so in a text, which takes more than a page here.
        #expect(pages == [["c", "a", "b"], ["a"], ["?"], ["b"]])
    }

    @Test func `R-744: a client that knows no pages gets everything, or limitExceeded`() throws {
        let client = try world.enter()
        for id in ["a", "b", "c"] { try client.subscribe(id) }
        #expect(try page(client, inPages: false).ids == ["a", "b", "c"])
        #expect(try page(client, inPages: false).cursor.isEmpty)
        #expect(try page(client, ids: ["c", "b", "a"], inPages: false).ids == ["c", "b", "a"])
        try client.subscribe("d")
        for ids in [[], ["a", "b", "c", "d"]] as [[String]] {
            guard case .failure(let failure)? = try ask(client, ids: ids, inPages: false) else {
                Issue.record("no failure")
                continue
            }
            #expect(failure.code == .limitExceeded && failure.message.contains("update the client"))
        }
        #expect(try page(client, ids: ["d", "b"], inPages: false).ids == ["d", "b"])
    }

    @Test func `R-744: a damaged cursor of subscriptions is refused`() throws {
        let client = try world.enter()
        for id in ["a", "b", "c", "d"] { try client.subscribe(id) }
        let cursor = try page(client).cursor
        #expect(try page(client, after: cursor).ids == ["d"])
        for bytes in [Array(cursor.dropLast()), [1, 2, 3]] as [[UInt8]] {
            #expect(try ask(client, after: bytes)?.code == .invalidArguments)
        }
    }

    @Test func `R-744: while a page of long subscriptions is made, others have their turn`() throws {
        var info = WireNotificationInfo()
        info.alertBody = String(repeating: "x", count: 4_000)
        let subscription = Subscription(
            id: "long", scope: .private, kind: .database, recordType: nil, notificationInfo: info.encoded)
        let viewpoint = Viewpoint(
            user: UserID(1), userRecordName: "_user", database: DatabaseID(1), device: DeviceID(high: 1, low: 1),
            store: StoreIncarnation(1))
        for (count, othersCount, madeCount) in [(5, 0, 5), (100, 1, 32)] {
            let scheduler = ManualScheduler()
            let others = Mutex(0)
            let results = Array(repeating: Result<Subscription, FailureReason>.success(subscription), count: count)
            let (made, between) = try scheduler.complete {
                scheduler.run { others.withLock { $0 += 1 } }
                var answer = SubscriptionsFetchAnswer(seenFrom: viewpoint, limits: Limits())
                await answer.appendInTurns(results)
                return (answer.count, others.withLock { $0 })
            }
            #expect(between == othersCount)
            #expect(made == madeCount)
        }
    }
}
