// SPDX-License-Identifier: Apache-2.0

import SessionTestSupport
import Synchronization
import Testing
import TidemarkDomain
import TidemarkService
import TidemarkTestSupport
import TidemarkWire

@testable import TidemarkSessions

/// Pushes to many sessions go in steps, and others are served between.
@Suite struct PushLinesTests {
    private static let subscriptions = (10..<30).map { "s\($0)" }

    /// Alice's account with many subscriptions and many devices, of which the first writes.
    private func crowd(_ world: SessionWorld, count: Int) throws -> (writer: TestClient, readers: [TestClient]) {
        let writer = try world.enter(device: 1)
        for id in Self.subscriptions { try writer.subscribe(id) }
        try writer.makeZone("notes")
        let readers = try (0..<count).map { index in
            let client = world.connect()
            var hello = SessionWorld.hello("alice", device: UInt64(index + 2))
            hello.countsPushes = true
            guard case .hello? = try client.ask(.hello(hello)) else { throw SessionWorld.Unexpected(nil) }
            return client
        }
        world.scheduler.runUntilIdle()
        for client in readers + [writer] { client.forgetInbox() }
        return (writer, readers)
    }

    private func notice(_ world: SessionWorld, zones: [String]) throws -> [ZoneNotice] {
        guard case .success(let identity?) = try world.identity(of: "alice") else {
            throw SessionWorld.Unexpected(nil)
        }
        let writer = DeviceID(high: 0, low: 1)
        return zones.map { ZoneNotice(database: identity.privateDatabase, life: writer, zoneName: $0) }
    }

    @Test func `R-723: between the pushes of one commit others are answered and pushed to`() throws {
        let world = SessionWorld()
        let bob = try world.enter("bob", device: 1)
        try bob.subscribe()
        try bob.makeZone("bobs")
        let other = try world.enter("bob", device: 2)
        let (writer, readers) = try crowd(world, count: 200)
        other.forgetInbox()
        let pushed = Mutex(0)
        let answered = Mutex<Int?>(nil)
        let told = Mutex<Int?>(nil)
        bob.onMessage { envelope in
            if envelope.id != 0 { answered.withLock { $0 = pushed.withLock { $0 } } }
        }
        other.onMessage { _ in told.withLock { $0 = pushed.withLock { $0 } } }
        // Bob asks as soon as the first of Alice's devices is told.
        let saving = try bob.saving("b", in: "bobs")
        for reader in readers {
            reader.onMessage { _ in
                let count = pushed.withLock { pushed in
                    pushed += 1
                    return pushed
                }
                if count == 1 { bob.post(.modifyRecords(saving)) }
            }
        }
        try writer.save("a", in: "notes")
        let total = 200 * Self.subscriptions.count
        #expect(pushed.withLock { $0 } == total)
        let (whenAnswered, whenTold) = (answered.withLock { $0 }, told.withLock { $0 })
        #expect(try #require(whenAnswered) < total)
        #expect(try #require(whenTold) < total)
        #expect(other.pushes.map { $0.zones.map(\.name) } == [["bobs"]])
    }

    @Test func `R-723, R-260: the pushes of two quick commits come in their order, each once`() throws {
        let world = SessionWorld()
        let (writer, readers) = try crowd(world, count: 200)
        for notice in try notice(world, zones: ["b", "a"]) { world.server.hub.committed(ZonesMoved([notice])) }
        let first = readers[0].inbox.count
        #expect(first == Self.subscriptions.count, "the first session does not wait, and gets all of its pushes")
        #expect(readers[199].pushes.isEmpty)
        world.scheduler.runUntilIdle()
        for reader in readers {
            #expect(reader.pushes.map(\.subscriptionID) == Self.subscriptions + Self.subscriptions)
            #expect(reader.pushes.map { $0.zones.map(\.name) } == (0..<40).map { [$0 < 20 ? "b" : "a"] })
            let numbers = reader.inbox.map(\.pushesSent)
            #expect(numbers == (1...40).map { UInt64(Self.subscriptions.count + $0) })
        }
        #expect(writer.pushes.isEmpty)
    }

    @Test func `R-723, R-253: commits that come faster than their pushes become one push, and none is lost`() throws {
        let world = SessionWorld()
        let (_, readers) = try crowd(world, count: 60)
        let zones = (10..<90).map { "z\($0)" }
        for notice in try notice(world, zones: zones) { world.server.hub.committed(ZonesMoved([notice])) }
        world.scheduler.runUntilIdle()
        for reader in readers {
            for id in Self.subscriptions {
                let pushes = reader.pushes.filter { $0.subscriptionID == id }
                #expect(pushes.flatMap { $0.zones.map(\.name) } == zones)
                #expect(pushes.count < 40)
            }
        }
    }

    @Test func `R-723: a device that leaves while its pushes wait is passed over`() throws {
        let world = SessionWorld()
        let (_, readers) = try crowd(world, count: 60)
        for notice in try notice(world, zones: ["a"]) { world.server.hub.committed(ZonesMoved([notice])) }
        readers[50].disconnect()
        world.scheduler.runUntilIdle()
        #expect(readers[50].pushes.isEmpty)
        for reader in readers.suffix(9) { #expect(reader.pushes.count == Self.subscriptions.count) }
    }

    // MARK: The lines

    private static let subscription = Subscription(
        id: "all", scope: .private, kind: .database, recordType: nil, notificationInfo: [])

    private static func batch(_ sessions: ClosedRange<UInt64>) -> PushBatch {
        PushBatch(
            PushGroup(sessions: Array(sessions), zoneNames: [], subscriptions: [subscription]), news: nil)
    }

    @Test func `R-723: a step is bounded, accounts take turns, and a line keeps its order`() {
        var lines = PushLines(bytesPerAccountMax: 1_000_000)
        let (large, small, alice) = (DatabaseID(1), DatabaseID(2), AccountID(1))
        let isFirst = [
            lines.append([Self.batch(1...1_000)], of: large, for: alice),
            lines.append([Self.batch(1...2)], of: large, for: alice),
            lines.append([Self.batch(2_001...2_003)], of: small, for: AccountID(2)),
        ]
        #expect(isFirst == [true, false, true])
        var taken: [UInt64] = []
        for _ in 0..<1_000 where !lines.isEmpty {
            var room = PushLines.stepWork
            var inStep = 0
            while room > 0, let database = lines.takeTurn() {
                while let next = lines.take(of: database, room: &room) {
                    taken += next.sessions
                    inStep += next.sessions.count
                }
            }
            #expect(inStep <= 125)
        }
        #expect(lines.isEmpty)
        #expect(taken.filter { $0 <= 1_000 } == Array(1...1_000) + [1, 2])
        let smallAt = taken.firstIndex(of: 2_001) ?? .max
        #expect(smallAt <= 125, "after one step of the large one")
    }

    @Test func `R-723: a session's pushes are not cut, however many they are`() {
        var lines = PushLines(bytesPerAccountMax: 1_000_000)
        let group = PushGroup(
            sessions: [1, 2], zoneNames: [], subscriptions: Array(repeating: Self.subscription, count: 2_000))
        _ = lines.append([PushBatch(group, news: nil)], of: DatabaseID(1), for: AccountID(1))
        var room = PushLines.stepWork
        let first = lines.take(of: DatabaseID(1), room: &room)
        let none = lines.take(of: DatabaseID(1), room: &room)
        #expect(first?.sessions == [1] && none == nil && !lines.isEmpty)
        room = PushLines.stepWork
        let second = lines.take(of: DatabaseID(1), room: &room)
        #expect(second?.sessions == [2] && lines.isEmpty)
    }

    @Test func `R-723: long pushes take a step alone, and name few zones with long names`() throws {
        var lines = PushLines(bytesPerAccountMax: 10_000_000)
        let info = [UInt8](repeating: 7, count: 4_096)
        let long = Subscription(id: "all", scope: .private, kind: .database, recordType: nil, notificationInfo: info)
        let group = PushGroup(
            sessions: [1, 2, 3], zoneNames: [], subscriptions: Array(repeating: long, count: 250))
        _ = lines.append([PushBatch(group, news: nil)], of: DatabaseID(1), for: AccountID(1))
        for session in group.sessions {
            var room = PushLines.stepWork
            let taken = lines.take(of: DatabaseID(1), room: &room)
            #expect(taken?.sessions == [session] && room <= 0)
        }
        let world = SessionWorld()
        let (_, readers) = try crowd(world, count: 1)
        for (length, isNamed) in [(100, true), (200, false)] {
            readers[0].forgetInbox()
            let names = (0..<40).map { String(repeating: "a", count: length) + "\(10 + $0)" }
            world.server.hub.committed(ZonesMoved(try notice(world, zones: names)))
            world.scheduler.runUntilIdle()
            #expect(readers[0].pushes.map(\.zones.count).allSatisfy { $0 == (isNamed ? 40 : 0) })
            #expect(readers[0].pushes.count == Self.subscriptions.count)
        }
    }

    @Test func `I-7: a line is bounded`() {
        var lines = PushLines(bytesPerAccountMax: 1_000_000)
        let (database, account) = (DatabaseID(1), AccountID(1))
        for _ in 0..<32 {
            let isAdmitted = lines.admits(database, of: account)
            #expect(isAdmitted)
            _ = lines.append([Self.batch(1...1)], of: database, for: account)
        }
        let areAdmitted = [lines.admits(database, of: account), lines.admits(DatabaseID(2), of: account)]
        #expect(areAdmitted == [false, true])
    }

    @Test func `R-777: an account's pushes that wait have so many bytes, and its databases wait in turns`() {
        let byteCount = Self.batch(1...1).byteCount
        var lines = PushLines(bytesPerAccountMax: 2 * byteCount)
        let (alice, bob) = (AccountID(1), AccountID(2))
        func admits(_ databases: Int64..., of account: AccountID) -> [Bool] {
            databases.map { database in
                guard lines.admits(DatabaseID(database), of: account) else { return false }
                _ = lines.append([Self.batch(1...1)], of: DatabaseID(database), for: account)
                return true
            }
        }
        func take(_ database: Int64) -> AccountID? {
            var room = PushLines.stepWork
            return lines.take(of: DatabaseID(database), room: &room)?.account
        }
        #expect(admits(1, 2, 3, 4, 3, of: alice) == [true, true, false, false, false])
        #expect(admits(9, of: bob) == [true], "another account has its own room")
        let before = lines.takeWaiting(of: alice)
        #expect(before == nil && take(1) == alice)
        #expect(admits(1, of: alice) == [false], "others waited before")
        let next = [lines.takeWaiting(of: alice), lines.takeWaiting(of: alice), lines.takeWaiting(of: alice)]
        #expect(next == [DatabaseID(3), DatabaseID(4), DatabaseID(1)], "each once, in turns")
        #expect(take(2) == alice && take(9) == bob && lines.isEmpty)
        let isFree = lines.takeWaiting(of: alice) == nil
        #expect(isFree && admits(5, 6, 7, of: alice) == [true, true, false])
    }
}
