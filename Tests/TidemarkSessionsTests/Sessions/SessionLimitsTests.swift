// SPDX-License-Identifier: Apache-2.0

import SessionTestSupport
import Testing
import TidemarkBytes
import TidemarkDomain
import TidemarkService
import TidemarkTestKit
import TidemarkTestSupport
import TidemarkWire

@testable import TidemarkSessions

@Suite struct SessionLimitsTests {
    private let fetch = TestClient.zonesRequest

    @Test func `R-155: who passes a limit is told which, for each of several zones, subscriptions, keys and records`()
        throws
    {
        let world = SessionWorld { settings in
            settings.limits.zonesMax = 2
            settings.limits.subscriptionsMax = 1
            settings.limits.itemsMax = 4
            settings.limits.keyZonesMax = 3
            settings.limits.zoneKeysMax = 1
            settings.limits.recordBytesMax = 100
        }
        let client = try world.enter()
        var zones = WireModifyZones()
        zones.database = .private
        zones.stamp = client.stamp()
        zones.saves = ["a", "b"].map(TestClient.zone)
        guard case .modifyZones(let made)? = try client.ask(.modifyZones(zones)) else { throw Unanswered() }
        #expect(made.saves.map(\.failure.code) == [.unspecified, .limitExceeded])
        #expect(made.saves[1].failure.message.hasSuffix("The limit is 2 zones per database."))

        var subscriptions = WireModifySubscriptions()
        subscriptions.database = .private
        subscriptions.saves = ["x", "y"].map { id in
            var subscription = TestClient.subscription()
            subscription.id = id
            return subscription
        }
        guard case .modifySubscriptions(let kept)? = try client.ask(.modifySubscriptions(subscriptions)) else {
            throw Unanswered()
        }
        #expect(kept.saves.map(\.failure.code) == [.unspecified, .limitExceeded])
        #expect(kept.saves[1].failure.message.hasSuffix("The limit is 1 subscriptions per user."))

        var fetch = WireFetchSubscriptions()
        fetch.database = .private
        fetch.ids = (0..<5).map { "\($0)" }
        subscriptions.deletes = fetch.ids
        var keys = WireFetchKeys()
        keys.database = .private
        keys.zones = Array(repeating: TestClient.zone("a"), count: 4)
        let wholes: [(WireClientEnvelope.OneOfRequest, String)] = [
            (.fetchSubscriptions(fetch), "contains 5 items which is more than the maximum"),
            (.modifySubscriptions(subscriptions), "contains 7 items which is more than the maximum"),
            (.fetchKeys(keys), "in a single request (3)"),
        ]
        for (request, text) in wholes { try expectRefusal(of: request, by: client, text) }

        var key = WireSaveZoneKey()
        key.database = .private
        key.zone = TestClient.zone("a")
        for number in 0..<2 as Range<UInt8> {
            key.newestID = key.key.id
            key.key.id = [UInt8](repeating: number, count: 16)
            key.key.accountKeyID = [UInt8](repeating: 9, count: 16)
            key.key.wrapped = [UInt8](repeating: 9, count: 60)
            if number == 0 {
                guard case .saveZoneKey? = try client.ask(.saveZoneKey(key)) else { throw Unanswered() }
            } else {
                try expectRefusal(of: .saveZoneKey(key), by: client, "The limit is 1 keys per zone.")
            }
        }

        let large = try client.saving("r", in: "a", text: String(repeating: "x", count: 100))
        guard case .modifyRecords(let saved)? = try client.ask(.modifyRecords(large)) else { throw Unanswered() }
        let failure = saved.zones[0].saves[0].failure.failure
        #expect(failure.code == .limitExceeded)
        #expect(failure.message.contains("The limit is 100 bytes of fields per record, and this has 1"))
    }

    private struct Unanswered: Error {}

    private func expectRefusal(
        of request: WireClientEnvelope.OneOfRequest, by client: TestClient, _ text: String
    ) throws {
        guard case .failure(let failure)? = try client.ask(request) else { throw Unanswered() }
        #expect(failure.code == .limitExceeded && failure.message.contains(text), "\(failure.message)")
    }

    @Test func `I-7: a client at the limit of requests is not read from until half are answered`() throws {
        let world = SessionWorld { $0.limits.requestsInFlightMax = 10 }
        let client = try world.enter()
        for _ in 0..<9 { client.post(fetch) }
        #expect(!client.isReadingPaused)
        client.post(fetch)
        #expect(client.isReadingPaused)
        #expect(client.failures.isEmpty)
        world.scheduler.runUntilIdle()
        #expect(!client.isReadingPaused)
        #expect(client.inbox.count == 11)
    }

    @Test func `R-723: a client whose messages begin nothing is cut off, and one with answers between them is not`()
        throws
    {
        let world = SessionWorld { $0.limits.requestsInFlightMax = 10 }
        let (idle, busy) = (try world.enter(), try world.enter(device: 2))
        var unknown = WireClientEnvelope()
        unknown.pushesHeard = 1
        for number in 0..<40 {
            unknown.id = number.isMultiple(of: 2) ? 0 : UInt64(1_000 + number)
            idle.post(unknown.encoded)
            busy.post(unknown.encoded)
        }
        #expect(idle.closeCode == nil)
        busy.post(fetch)
        world.scheduler.runUntilIdle()
        for client in [idle, busy] { client.post(unknown.encoded) }
        #expect(idle.closeCode != nil && busy.closeCode == nil)
    }

    @Test func `I-7: what waits to be answered is bounded in bytes too`() throws {
        let world = SessionWorld { $0.requestBytesUnderWayMax = 130_000 }
        let client = try world.enter()
        var long = WireFetchRecords()
        long.database = .private
        long.zones = [WireZoneRecordNames()]
        long.zones[0].names = [String(repeating: "x", count: 30_000)]
        for _ in 0..<3 { client.post(.fetchRecords(long)) }
        #expect(!client.isReadingPaused)
        client.post(.fetchRecords(long))
        #expect(client.isReadingPaused)
        #expect(client.inbox.count == 1)
        world.scheduler.runUntilIdle()
        #expect(!client.isReadingPaused)
        #expect(client.inbox.count == 5)
        // Answered requests are forgotten, so the next ones are counted from nothing.
        for _ in 0..<3 { client.post(.fetchRecords(long)) }
        #expect(!client.isReadingPaused)
    }

    @Test func `R-372: requests beyond the limit are refused with requestRateLimited, then the client is cut off`()
        throws
    {
        let world = SessionWorld { $0.limits.requestsInFlightMax = 10 }
        let client = try world.enter()
        for _ in 0..<20 { client.post(fetch) }
        #expect(client.failures.map(\.code) == Array(repeating: .requestRateLimited, count: 10))
        #expect(client.failures.allSatisfy { $0.retryAfterSeconds > 0 })
        #expect(client.closeCode == nil)
        client.post(fetch)
        #expect(client.closeCode == 4429)
    }

    @Test func `I-7: 10000 requests without reading the answers cost a bounded amount of memory`() throws {
        let world = SessionWorld { $0.queuedBytesMax = 65_536 }
        let other = try world.enter("bob", device: 9)
        let writer = try world.enter(device: 2)
        try writer.makeZone("notes")
        for index in 0..<20 { try writer.save("r\(index)", in: "notes", text: String(repeating: "x", count: 10_000)) }
        let client = try world.enter()
        client.takesAnswers(false)
        var largest = 0
        for _ in 0..<10_000 {
            client.post(.fetchZoneChanges(TestClient.zoneChanges("notes")))
            world.scheduler.runUntilIdle()
            largest = max(largest, client.queuedByteCount)
            if client.closeCode != nil { break }
        }
        #expect(client.closeCode == 4429)
        // One page is 200 KB: four may have run when the queue became full, and refusals are small.
        #expect(largest < 65_536 + 5 * 210_000)
        try other.makeZone("unharmed")
    }

    @Test func `I-7: a slow reader gets back-pressure, goes on when it reads, and is closed when it does not`() throws {
        let world = SessionWorld { $0.queuedBytesMax = 40 }
        let client = try world.enter()
        client.takesAnswers(false)
        for _ in 0..<5 {
            client.post(fetch)
            world.scheduler.runUntilIdle()
        }
        #expect(client.isReadingPaused)
        let answered = client.inbox.count
        #expect(answered < 6)
        world.scheduler.advance(by: .seconds(20))
        client.takesAnswers(true)
        world.scheduler.runUntilIdle()
        #expect(!client.isReadingPaused)
        #expect(client.inbox.count == 6)
        client.takesAnswers(false)
        for _ in 0..<5 {
            client.post(fetch)
            world.scheduler.runUntilIdle()
        }
        world.scheduler.advance(by: .seconds(29))
        #expect(client.closeCode == nil)
        world.scheduler.advance(by: .seconds(2))
        #expect(client.closeCode == 4408)
        #expect(try world.hasNoSession(world.server.hub))
    }

    @Test func `I-7: an account has a bounded number of connections`() throws {
        let world = SessionWorld { $0.sessionsPerAccountMax = 3 }
        let clients = try (1...3).map { try world.enter(device: $0) }
        let refused = world.connect()
        _ = try refused.ask(.hello(SessionWorld.hello("alice", device: 4)))
        #expect(refused.failures.map(\.code) == [.requestRateLimited])
        #expect(refused.failures.first?.message.contains("3 of one account (--connections-per-account)") == true)
        #expect(refused.failures.first.map { $0.retryAfterSeconds > 0 } == true)
        #expect(refused.closeCode == 4429)
        _ = try world.enter("bob")
        clients[0].disconnect()
        _ = try world.enter(device: 4)
    }

    @Test
    func `R-721, R-935: an operator's number of connections takes the place of the server's, from the next one on`()
        throws
    {
        let world = SessionWorld(loopCount: 2) { $0.sessionsPerAccountMax = 3 }
        var clients: [TestClient] = []
        func enter(_ device: UInt64, _ account: String = "alice") throws -> TestClient {
            let client = world.connect(to: world.loops[Int(device % 2)])
            clients.append(client)
            _ = try client.ask(.hello(SessionWorld.hello(account, device: device)))
            return client
        }
        #expect(world.database.setConnectionsMax(1, account: "alice"))
        let first = try enter(1)
        #expect(first.failures.isEmpty)
        let refused = try enter(2)
        #expect(refused.closeCode == 4429)
        #expect(
            refused.failures.first?.message.contains("1 of one account (admin accounts set-limit --connections)")
                == true)
        // More than the server's.
        #expect(world.database.setConnectionsMax(5, account: "alice"))
        for device in UInt64(3)...6 { #expect(try enter(device).failures.isEmpty) }
        #expect(try enter(7).closeCode == 4429)
        // Those that are open stay.
        #expect(world.database.setConnectionsMax(1, account: "alice"))
        world.scheduler.runUntilIdle()
        #expect(first.closeCode == nil)
        // The choice for each account gives way to her own, and the server's number to both.
        #expect(world.database.setConnectionsMax(2, account: nil))
        for device in UInt64(11)...12 { #expect(try enter(device, "bob").failures.isEmpty) }
        #expect(try enter(13, "bob").closeCode == 4429)
        #expect(world.database.setConnectionsMax(nil, account: nil))
        #expect(try enter(14, "bob").failures.isEmpty)
        #expect(try enter(15, "bob").failures.first?.message.contains("3 of one account (--connections-per") == true)
        #expect(!world.database.setConnectionsMax(1, account: "nobody"))
    }

    // MARK: Credentials

    @Test func `R-354: an expiring credential cuts its connections when it expires`() throws {
        let world = SessionWorld()
        world.issue("guest", expiresAt: Timestamp(milliseconds: world.scheduler.wallClockMilliseconds + 7_200_000))
        let client = try world.enter("guest")
        world.scheduler.advance(by: .seconds(7_199))
        #expect(client.closeCode == nil)
        world.scheduler.advance(by: .seconds(2))
        #expect(client.closeCode == 4401)
    }

    @Test func `a revoked credential cuts its connections on every server at once by notice`() throws {
        let world = SessionWorld()
        let second = world.anotherServer()
        let credential = world.issue("guest")
        let here = try world.enter("guest")
        let there = try world.enter("guest", device: 2, server: second)
        let other = try world.enter("bob")
        world.database.revokeCredential(credential)
        for server in [world.server, second] { server.hub.heard([.credentialRevoked(credential)]) }
        #expect(here.closeCode == 4401)
        #expect(there.closeCode == 4401)
        #expect(other.closeCode == nil)
    }

    @Test func `R-876: a revoked credential cuts its connections within ten seconds without a notice, on every server`()
        throws
    {
        let world = SessionWorld()
        let second = world.anotherServer()
        let credential = world.issue("guest")
        let client = try world.enter("guest")
        let there = try world.enter("guest", device: 2, server: second)
        let other = try world.enter("bob")
        for server in [world.server, second] { world.database.stopListening(server.listener) }
        world.database.revokeCredential(credential)
        world.scheduler.advance(by: .seconds(11))
        #expect(client.closeCode == 4401 && there.closeCode == 4401)
        #expect(other.closeCode == nil)
    }

    @Test func `a store that cannot be reached cuts nobody off`() throws {
        let world = SessionWorld()
        let client = try world.enter()
        world.server.faults.always(.callSent, .disconnect)
        world.scheduler.advance(by: .seconds(130))
        #expect(client.closeCode == nil)
    }

    // MARK: The end

    @Test func `a server that stops answers what runs, refuses the rest and closes with 1001`() throws {
        let world = SessionWorld()
        let idle = try world.enter(device: 2)
        let silent = world.connect()
        let busy = try world.enter()
        let id = busy.post(fetch)
        let hub = world.server.hub
        try world.scheduler.complete { await hub.stop(patience: .seconds(10)) }
        guard case .fetchZones? = busy.answer(to: id) else {
            Issue.record("not answered: \(busy.inbox)")
            return
        }
        for client in [idle, silent, busy] { #expect(client.closeCode == 1001) }
        let late = world.connect()
        #expect(late.closeCode == 1001)
        #expect(try world.hasNoSession(hub))
    }

    @Test func `a server that stops does not wait longer than it is told`() throws {
        let world = SessionWorld()
        let busy = try world.enter()
        world.server.faults.always(.callSent, .delay(.seconds(1_000)))
        busy.post(fetch)
        let start = world.scheduler.now
        let hub = world.server.hub
        try world.scheduler.complete { await hub.stop(patience: .seconds(10)) }
        #expect(world.scheduler.now - start == .seconds(10))
        #expect(busy.closeCode == 1001)
    }
}
