// SPDX-License-Identifier: Apache-2.0

import SessionTestSupport
import Testing
import TidemarkCrypto
import TidemarkDomain
import TidemarkFairness
import TidemarkSessions
import TidemarkTestKit
import TidemarkTestSupport
import TidemarkWire

/// Requests that wait for their owners' turns.
@Suite struct RequestGatesTests {
    enum Kind: String, CaseIterable, Sendable {
        case zones, subscriptions, zoneKeys, chunks, queries, databaseChanges

        /// A request that no other one of the client is equal to.
        func request(_ client: TestClient, _ number: Int) -> WireClientEnvelope.OneOfRequest {
            switch self {
            case .zones:
                var request = WireModifyZones()
                request.database = .private
                request.stamp = client.stamp()
                request.saves = [TestClient.zone("zone \(number)")]
                return .modifyZones(request)
            case .subscriptions:
                var request = WireModifySubscriptions()
                request.database = .private
                request.saves = [TestClient.subscription("s\(number)")]
                return .modifySubscriptions(request)
            case .zoneKeys:
                var request = WireSaveZoneKey()
                request.database = .private
                request.zone = TestClient.zone("notes")
                request.key.id = [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 16)
                request.key.accountKeyID = [UInt8](repeating: 9, count: 16)
                request.key.wrapped = [UInt8](repeating: 9, count: 60)
                return .saveZoneKey(request)
            case .chunks:
                let content = Self.content(number)
                var request = WireUploadAssetChunk()
                request.database = .private
                request.sha256 = [UInt8](ContentHash.of(content))
                request.byteCount = UInt64(content.count)
                request.content = content[...]
                return .uploadAssetChunk(request)
            case .queries:
                var request = WireQueryRecords()
                request.database = .private
                request.query.recordType = "Note"
                request.limit = UInt32(number + 1)
                return .queryRecords(request)
            case .databaseChanges:
                var request = WireFetchDatabaseChanges()
                request.database = .private
                request.limit = UInt32(number + 1)
                return .fetchDatabaseChanges(request)
            }
        }

        /// What a client is told to have too many of.
        var subject: String {
            switch self {
            case .zones, .subscriptions, .zoneKeys: "changes of zones"
            case .chunks: "parts of files"
            case .queries: "queries are under way"
            case .databaseChanges: "fetches of a database's changes"
            }
        }

        private static func content(_ number: Int) -> [UInt8] { Array("content \(number)".utf8) }
    }

    /// One at a time, and so many wait.
    private func bounds(waiting: Int = 64) -> FairBounds {
        FairBounds(room: 1, roomPerOwner: 1, waitingMax: 64, waitingPerOwnerMax: waiting)
    }

    private func world(waiting: Int = 64) -> SessionWorld {
        SessionWorld {
            $0.changes = bounds(waiting: waiting)
            $0.assets = bounds(waiting: waiting)
            $0.queries = bounds(waiting: waiting)
            $0.wholeDatabases = bounds(waiting: waiting)
        }
    }

    /// What the requests name is there.
    private func prepare(_ kind: Kind, for client: TestClient) throws {
        try client.makeZone("notes")
        if kind == .queries { try client.save("a", in: "notes") }
    }

    /// From now on each call of the store takes a second.
    private func slowDown(_ world: SessionWorld) {
        for point in [.callSent, .beginSent] as [FaultPoint] {
            world.server.faults.always(point, .delay(.seconds(1)))
        }
    }

    /// How long it takes until it is so.
    private func time(in world: SessionWorld, until isDone: () -> Bool) -> Duration {
        let start = world.scheduler.now
        world.scheduler.runUntilIdle()
        while !isDone(), world.scheduler.now - start < .seconds(100) {
            world.scheduler.advance(by: .milliseconds(250))
        }
        return world.scheduler.now - start
    }

    @Test(arguments: Kind.allCases)
    func `R-711, R-714, R-718: of a flood of one account's requests at most two come before another account's`(
        _ kind: Kind
    ) throws {
        let world = world()
        let crowd = try (1...5).map { try world.enter(device: $0) }
        let bob = try world.enter("bob", device: 9)
        for client in [crowd[0], bob] { try prepare(kind, for: client) }
        slowDown(world)
        func ask(_ number: Int) -> Duration {
            let id = bob.post(kind.request(bob, number))
            return time(in: world) { bob.answer(to: id) != nil }
        }
        let alone = ask(100)
        for client in crowd { client.forgetInbox() }
        for (index, client) in crowd.enumerated() {
            for number in 0..<4 { client.post(kind.request(client, 4 * index + number)) }
        }
        world.scheduler.runUntilIdle()
        let beside = ask(101)
        let first = crowd.reduce(0) { $0 + $1.inbox.count { $0.id != 0 } }
        #expect((1...2).contains(first), "\(first) of the crowd's came first")
        #expect(beside > alone, "it waits for what is under way")
        #expect(bob.failures.isEmpty)
    }

    @Test(arguments: Kind.allCases)
    func `R-712, R-714, R-718: an account with too many of them is told what they are, and when to try again`(
        _ kind: Kind
    ) throws {
        let world = world(waiting: 2)
        let client = try world.enter()
        try prepare(kind, for: client)
        client.forgetInbox()
        slowDown(world)
        for number in 0..<4 { client.post(kind.request(client, number)) }
        world.scheduler.runUntilIdle()
        #expect(client.failures.map(\.code) == [.requestRateLimited])
        #expect(client.failures.allSatisfy { $0.retryAfterSeconds >= 1 })
        #expect(client.failures.allSatisfy { $0.message.contains(kind.subject) })
    }

    @Test(arguments: Kind.allCases)
    func `R-713, R-714, R-718: requests of a client that is gone leave the queue`(_ kind: Kind) throws {
        let world = world(waiting: 3)
        let (first, next) = (try world.enter(), try world.enter(device: 2))
        try prepare(kind, for: next)
        next.forgetInbox()
        slowDown(world)
        for number in 0..<4 { first.post(kind.request(first, number)) }
        world.scheduler.runUntilIdle()
        first.disconnect()
        world.scheduler.runUntilIdle()
        let ids = (4..<7).map { next.post(kind.request(next, $0)) }
        _ = time(in: world) { ids.allSatisfy { next.answer(to: $0) != nil } }
        #expect(ids.allSatisfy { next.answer(to: $0) != nil } && next.failures.isEmpty)
    }

    // MARK: Hello

    private func greet(_ account: String, device: UInt64, in world: SessionWorld) -> TestClient {
        let client = world.connect()
        client.post(.hello(SessionWorld.hello(account, device: device)))
        return client
    }

    @Test func `R-711, R-718: of many devices with one credential at most two come before one with another`() throws {
        let world = SessionWorld { $0.greetings = bounds() }
        for account in ["alice", "bob"] { _ = try world.enter(account) }
        slowDown(world)
        let crowd = (10..<20).map { greet("alice", device: $0, in: world) }
        world.scheduler.runUntilIdle()
        let bob = greet("bob", device: 30, in: world)
        _ = time(in: world) { !bob.inbox.isEmpty }
        #expect(bob.inbox.count == 1 && bob.failures.isEmpty)
        let first = crowd.count { !$0.inbox.isEmpty }
        #expect(first <= 2, "\(first) of the crowd came first")
    }

    @Test func `R-712, R-718: a device that finds no place among those who connect is told when to try again`() throws {
        let world = SessionWorld { $0.greetings = bounds(waiting: 1) }
        _ = try world.enter()
        slowDown(world)
        let clients = (10..<13).map { greet("alice", device: $0, in: world) }
        world.scheduler.runUntilIdle()
        #expect(clients.map(\.closeCode) == [nil, nil, 1013])
        #expect(clients[2].failures.map(\.code) == [.requestRateLimited])
        #expect(clients[2].failures.allSatisfy { $0.retryAfterSeconds >= 1 })
    }

    @Test func `R-713, R-718: a device that is gone while its Hello waits leaves the queue`() throws {
        let world = SessionWorld { $0.greetings = bounds(waiting: 2) }
        _ = try world.enter()
        slowDown(world)
        let gone = (10..<13).map { greet("alice", device: $0, in: world) }
        world.scheduler.runUntilIdle()
        for client in gone { client.disconnect() }
        world.scheduler.runUntilIdle()
        let next = (20..<22).map { greet("alice", device: $0, in: world) }
        _ = time(in: world) { next.allSatisfy { !$0.inbox.isEmpty } }
        #expect(next.allSatisfy { $0.inbox.count == 1 && $0.failures.isEmpty })
    }
}
