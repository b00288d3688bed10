// SPDX-License-Identifier: Apache-2.0

import SessionTestSupport
import Testing
import TidemarkDomain
import TidemarkFairness
import TidemarkFields
import TidemarkService
import TidemarkTestKit
import TidemarkTestSupport
import TidemarkWire

@testable import TidemarkSessions

@Suite struct PushCenterTests {
    /// Alice's devices 1 and 2, subscribed, with a zone, and nothing left to be told.
    private func pair(
        _ world: SessionWorld, second: SessionWorld.Server? = nil
    ) throws -> (TestClient, TestClient) {
        let (first, other) = try enterTwice("alice", world, second: second)
        world.scheduler.advance(by: .seconds(60))
        first.forgetInbox()
        other.forgetInbox()
        return (first, other)
    }

    /// An account's devices 1 and 2, subscribed, with a zone.
    private func enterTwice(
        _ account: String, _ world: SessionWorld, second: SessionWorld.Server?
    ) throws -> (TestClient, TestClient) {
        let first = try world.enter(account, device: 1)
        try first.subscribe()
        try first.makeZone("notes")
        return (first, try world.enter(account, device: 2, server: second))
    }

    private static func names(_ pushes: [WirePush]) -> [[String]] { pushes.map { $0.zones.map(\.name) } }

    @Test func `R-248, R-249: a save is pushed to the account's other devices, not to the one that made it`() throws {
        let world = SessionWorld()
        let (first, other) = try pair(world)
        let stranger = try world.enter("bob", device: 2)
        try stranger.subscribe()
        stranger.forgetInbox()
        try first.save("a", in: "notes")
        #expect(first.pushes.isEmpty)
        #expect(Self.names(other.pushes) == [["notes"]])
        #expect(other.pushes.first?.subscriptionID == "all")
        #expect(other.pushes.first?.kind == .database)
        #expect(other.pushes.first?.database == .private)
        #expect(stranger.pushes.isEmpty)
    }

    @Test func `R-247: new and deleted zones are pushed, the default zone is not`() throws {
        let world = SessionWorld()
        let (first, other) = try pair(world)
        try first.save("a", in: "_defaultZone")
        #expect(other.pushes.isEmpty)
        try first.makeZone("more")
        #expect(other.pushes.count == 1)
    }

    @Test func `R-202, R-247: where the default zone has a feed, its changes are pushed as well`() throws {
        let world = SessionWorld()
        _ = try world.enter(device: 9)
        let container = ContainerKey(identifier: SessionWorld.container, environment: .development)
        #expect(world.database.setFeedsEverywhere(true, in: container))
        let (first, other) = try pair(world)
        try first.save("a", in: "_defaultZone")
        #expect(Self.names(other.pushes) == [["_defaultZone"]])
        #expect(first.pushes.isEmpty)
        world.database.setFeedsEverywhere(false, in: container)
        // Whoever connects from now on is not told any more.
        let (second, third) = try pair(world)
        try second.save("b", in: "_defaultZone")
        #expect(third.pushes.isEmpty)
    }

    @Test func `R-240: without a subscription nothing is pushed`() throws {
        let world = SessionWorld()
        let first = try world.enter(device: 1)
        let other = try world.enter(device: 2)
        try first.makeZone("notes")
        try first.save("a", in: "notes")
        world.scheduler.advance(by: .seconds(60))
        #expect(first.pushes.isEmpty)
        #expect(other.pushes.isEmpty)
    }

    @Test func `R-501: two engines of one process are two devices`() throws {
        let world = SessionWorld()
        let (first, other) = try pair(world)
        try other.save("a", in: "notes")
        #expect(first.pushes.count == 1)
        #expect(other.pushes.isEmpty)
    }

    @Test func `R-253: what one commit moves is pushed once, encoded once for all`() throws {
        let world = SessionWorld()
        let (first, other) = try pair(world)
        let third = try world.enter(device: 3)
        third.forgetInbox()
        let hub = world.server.hub
        guard case .success(let identity?) = try world.identity(of: "alice") else {
            Issue.record("no identity")
            return
        }
        let device = DeviceID(high: 0, low: 1)
        hub.committed(
            ZonesMoved(
                ["b", "a", "c", "b"].map {
                    ZoneNotice(database: identity.privateDatabase, life: device, zoneName: $0)
                }))
        world.scheduler.runUntilIdle()
        #expect(first.pushes.isEmpty)
        for client in [other, third] { #expect(Self.names(client.pushes) == [["a", "b", "c"]]) }
    }

    @Test func `R-248: a device is told of what others did, also when it did something itself`() throws {
        let world = SessionWorld()
        let (first, other) = try pair(world)
        guard case .success(let identity?) = try world.identity(of: "alice") else {
            Issue.record("no identity")
            return
        }
        func notice(_ zone: String, _ device: UInt64) -> ZoneNotice {
            ZoneNotice(
                database: identity.privateDatabase, life: DeviceID(high: 0, low: device), zoneName: zone)
        }
        world.server.hub.committed(
            ZonesMoved([notice("a", 1), notice("b", 2), notice("c", 1), notice("c", 2)]))
        world.scheduler.runUntilIdle()
        #expect(Self.names(first.pushes) == [["b", "c"]])
        #expect(Self.names(other.pushes) == [["a", "c"]])
        // What several devices changed in one transaction comes as changed by nobody in particular.
        let together = ZoneNotice(database: identity.privateDatabase, life: .nobody, zoneName: "d")
        world.server.hub.committed(ZonesMoved([together, notice("e", 1)]))
        world.scheduler.runUntilIdle()
        #expect(Self.names(first.pushes).last == ["d"])
        #expect(Self.names(other.pushes).last == ["d", "e"])
    }

    @Test func `R-248, R-355: what another user changes by a device of the same bits is pushed to all`() throws {
        let world = SessionWorld()
        let (first, other) = try pair(world)
        guard case .success(let identity?) = try world.identity(of: "alice") else {
            Issue.record("no identity")
            return
        }
        // By a user of alice's zone who is not alice.
        let user = UserID(987)
        let request = RecordsRequest(
            id: RequestID(device: DeviceID(high: 0, low: 1), counter: 1, lowestUnanswered: 1),
            key: ZoneKey(database: identity.privateDatabase, name: "notes"),
            saves: [RecordSave(name: "a", type: "Note", tag: nil, fields: FieldMap(), parent: .unchanged)], deletes: [],
            policy: .allKeys, isAtomic: false, user: user, access: RecordAccess(scope: .public, user: user))
        let outcomes = try world.scheduler.complete { [service = world.server.service] in
            await service.modifyRecords([request], for: .nobody)
        }
        guard case .saved? = try outcomes[0].get().saves.first else {
            Issue.record("not saved")
            return
        }
        world.scheduler.runUntilIdle()
        for client in [first, other] { #expect(Self.names(client.pushes) == [["notes"]]) }
    }

    @Test func `R-253: a push does not wait to hear of subscriptions made elsewhere; who made them is told after`()
        throws
    {
        let world = SessionWorld()
        let (first, other) = try pair(world)
        let remote = try world.enter(device: 3, server: world.anotherServer())
        try remote.subscribe("more")
        for client in [first, other] { client.forgetInbox() }
        try first.save("a", in: "notes")
        #expect(Self.names(other.pushes) == [["notes"], [], []])
        #expect(other.pushes.map(\.subscriptionID) == ["all", "all", "more"])
        #expect(first.pushes.map(\.subscriptionID) == ["all", "more"])
        for client in [first, other] { client.forgetInbox() }
        world.scheduler.advance(by: .seconds(60))
        for client in [first, other] { client.forgetInbox() }
        try first.save("b", in: "notes")
        #expect(other.pushes.map(\.subscriptionID) == ["all", "more"] && first.pushes.isEmpty, "nothing is new")
    }

    @Test func `R-253: a device that connects or subscribes is told once that it may have missed something`() throws {
        let world = SessionWorld()
        let first = try world.enter(device: 1)
        #expect(first.pushes.isEmpty)
        try first.subscribe()
        #expect(first.pushes.count == 1)
        let other = try world.enter(device: 2)
        world.scheduler.runUntilIdle()
        #expect(other.pushes.count == 1)
        #expect(first.pushes.count == 1)
    }

    @Test func `R-260: a fetch that a push causes sees the change`() throws {
        let world = SessionWorld()
        let (first, other) = try pair(world)
        try first.save("a", in: "notes")
        #expect(other.pushes.count == 1)
        guard case .fetchZoneChanges(let page)? = try other.ask(.fetchZoneChanges(TestClient.zoneChanges("notes")))
        else {
            Issue.record("no page")
            return
        }
        #expect(page.changes.map(\.record.name) == ["a"])
    }

    @Test func `R-242: after its subscription is deleted nothing is pushed`() throws {
        let world = SessionWorld()
        let (first, other) = try pair(world)
        var request = WireModifySubscriptions()
        request.database = .private
        request.deletes = ["all", "other"]
        guard case .modifySubscriptions(let answer)? = try other.ask(.modifySubscriptions(request)) else {
            Issue.record("no answer")
            return
        }
        #expect(answer.deletes.map(\.failure.code) == [.unspecified, .unknownItem])
        try first.save("a", in: "notes")
        #expect(other.pushes.isEmpty)
    }

    @Test func `R-242: subscriptions are fetched by id, and all`() throws {
        let world = SessionWorld()
        let client = try world.enter()
        try client.subscribe("one")
        try client.subscribe("two")
        var request = WireFetchSubscriptions()
        request.database = .private
        guard case .fetchSubscriptions(let all)? = try client.ask(.fetchSubscriptions(request)) else {
            Issue.record("no answer")
            return
        }
        #expect(all.subscriptions.map(\.subscription.id) == ["one", "two"])
        request.ids = ["two", "three"]
        guard case .fetchSubscriptions(let some)? = try client.ask(.fetchSubscriptions(request)) else {
            Issue.record("no answer")
            return
        }
        #expect(some.subscriptions.map(\.subscription.id) == ["two", ""])
        #expect(some.subscriptions.map(\.failure.code) == [.unspecified, .unknownItem])
    }

    @Test func `R-030, R-241, R-247: a zone subscription pushes its zone's changes, and ends with the zone`() throws {
        let world = SessionWorld()
        let first = try world.enter(device: 1)
        for zone in ["notes", "other"] { try first.makeZone(zone) }
        let second = try world.enter(device: 2)
        func save(_ zone: String) throws -> WireSubscriptionResult? {
            var request = WireModifySubscriptions()
            request.database = .private
            request.saves = [TestClient.subscription("z")]
            request.saves[0].kind = .recordZone
            request.saves[0].zone.name = zone
            guard case .modifySubscriptions(let answer)? = try first.ask(.modifySubscriptions(request)) else {
                return nil
            }
            return answer.saves.first
        }
        #expect(try save("none")?.failure.code == .zoneNotFound)
        #expect(try save("_defaultZone")?.failure.code == .invalidArguments)
        #expect(try save("notes")?.subscription.zone.name == "notes")
        world.scheduler.advance(by: .seconds(60))
        for client in [first, second] { client.forgetInbox() }
        try first.save("a", in: "other")
        #expect(second.pushes.isEmpty)
        try first.save("a", in: "notes")
        #expect(first.pushes.isEmpty && Self.names(second.pushes) == [["notes"]])
        #expect(second.pushes.first?.kind == .recordZone && second.pushes.first?.subscriptionID == "z")
        // Who comes later is told that there may be something, and in which zone.
        let third = try world.enter(device: 3)
        world.scheduler.advance(by: .milliseconds(10))
        #expect(Self.names(third.pushes) == [["notes"]])
        var zones = WireModifyZones()
        zones.database = .private
        zones.stamp = first.stamp()
        zones.deletes = [TestClient.zone("notes")]
        _ = try first.ask(.modifyZones(zones))
        var request = WireFetchSubscriptions()
        request.database = .private
        guard case .fetchSubscriptions(let all)? = try first.ask(.fetchSubscriptions(request)) else {
            Issue.record("no answer")
            return
        }
        #expect(all.subscriptions.isEmpty)
    }

    // MARK: Several servers

    @Test func `a save on one server is pushed by the other, and once`() throws {
        let world = SessionWorld()
        let second = world.anotherServer()
        let (first, other) = try pair(world, second: second)
        let beside = try world.enter(device: 3)
        beside.forgetInbox()
        try first.save("a", in: "notes")
        world.scheduler.advance(by: .milliseconds(10))
        #expect(first.pushes.isEmpty)
        #expect(Self.names(other.pushes) == [["notes"]])
        #expect(Self.names(beside.pushes) == [["notes"]])
    }

    @Test func `I-4: who finds a subscription that was made by way of another server a moment ago is pushed`() throws {
        let world = SessionWorld()
        let second = world.anotherServer()
        let other = try world.enter(device: 2, server: second)
        let first = try world.enter(device: 1)
        try first.makeZone("notes")
        try first.subscribe()
        var request = WireFetchSubscriptions()
        request.database = .private
        guard case .fetchSubscriptions(let found)? = try other.ask(.fetchSubscriptions(request)) else {
            Issue.record("no answer")
            return
        }
        #expect(found.subscriptions.count == 1)
        world.scheduler.advance(by: .milliseconds(100))
        other.forgetInbox()
        try first.save("a", in: "notes")
        world.scheduler.advance(by: .milliseconds(100))
        #expect(Self.names(other.pushes) == [["notes"]])
    }

    @Test func `I-4: a lost notice is repaired by the sweep, within 10 seconds`() throws {
        let world = SessionWorld()
        let second = world.anotherServer()
        let (first, other) = try pair(world, second: second)
        world.database.stopListening(second.listener)
        try first.save("a", in: "notes")
        #expect(other.pushes.isEmpty)
        world.scheduler.advance(by: .seconds(10))
        #expect(other.pushes.count == 1)
        world.scheduler.advance(by: .seconds(60))
        #expect(other.pushes.count == 1)
        #expect(first.pushes.isEmpty)
    }

    @Test func `I-4: a notice that is lost among others is repaired when it is quiet again`() throws {
        let world = SessionWorld()
        let second = world.anotherServer()
        let (first, other) = try pair(world, second: second)
        let third = try world.enter(device: 3, server: second)
        try third.save("heard", in: "notes")
        world.database.stopListening(second.listener)
        try first.save("lost", in: "notes")
        other.forgetInbox()
        world.scheduler.advance(by: .seconds(30))
        #expect(other.pushes.count == 1)
    }

    @Test func `I-4: after the listener was away everybody is compared at once`() throws {
        let world = SessionWorld()
        let second = world.anotherServer()
        let (first, other) = try pair(world, second: second)
        world.database.stopListening(second.listener)
        try first.save("a", in: "notes")
        second.hub.noticesMissed()
        world.scheduler.runUntilIdle()
        #expect(other.pushes.count == 1)
    }

    @Test func `I-4, R-769: a step of the sweep that fails leaves the others as they are, and is made up for`() throws {
        let world = SessionWorld()
        let second = world.anotherServer()
        let pairs = try (0...SweepPlan.databasesPerStep).map { number in
            world.issue("user \(number)")
            return try enterTwice("user \(number)", world, second: second)
        }
        world.scheduler.advance(by: .seconds(60))
        for (_, other) in pairs { other.forgetInbox() }
        world.database.stopListening(second.listener)
        for (first, _) in pairs { try first.save("a", in: "notes") }
        func told() -> Int { pairs.filter { $0.1.pushes.count == 1 }.count }
        second.faults.next(.callSent, .reject)
        second.hub.noticesMissed()
        world.scheduler.runUntilIdle()
        #expect(told() == 1)
        second.hub.noticesMissed()
        world.scheduler.runUntilIdle()
        #expect(told() == pairs.count)
    }

    @Test func `I-4: a notice that is lost before the first sweep is repaired by it`() throws {
        let world = SessionWorld()
        let second = world.anotherServer()
        let (first, other) = try enterTwice("alice", world, second: second)
        other.forgetInbox()
        world.database.stopListening(second.listener)
        try first.save("a", in: "notes")
        #expect(other.pushes.isEmpty)
        world.scheduler.advance(by: .seconds(10))
        #expect(other.pushes.count == 1)
        world.scheduler.advance(by: .seconds(60))
        #expect(other.pushes.count == 1)
    }

    @Test func `I-4: who came when the store could not be read is told by the first sweep that can`() throws {
        let world = SessionWorld()
        let second = world.anotherServer()
        let (first, _) = try pair(world)
        let other = world.connect(to: second)
        second.faults.always(.callSent, .delay(.seconds(1)))
        let hello = other.post(.hello(SessionWorld.hello("alice", device: 3)))
        for _ in 0..<20 where other.answer(to: hello) == nil { world.scheduler.advance(by: .milliseconds(500)) }
        guard case .hello? = other.answer(to: hello) else {
            Issue.record("no answer to Hello")
            return
        }
        second.faults.always(.callSent, .disconnect)
        second.faults.always(.callAnswered, .disconnect)
        world.database.stopListening(second.listener)
        try first.save("a", in: "notes")
        world.scheduler.advance(by: .seconds(30))
        #expect(other.pushes.isEmpty)
        second.faults.always(.callSent, .none)
        second.faults.always(.callAnswered, .none)
        world.scheduler.advance(by: .seconds(10))
        #expect(other.pushes.count == 1)
        world.scheduler.advance(by: .seconds(60))
        #expect(other.pushes.count == 1)
    }

    @Test func `a device that subscribes on one server is pushed to by the other within its age limit`() throws {
        let world = SessionWorld()
        let second = world.anotherServer()
        let first = try world.enter(device: 1)
        try first.makeZone("notes")
        let other = try world.enter(device: 2, server: second)
        world.scheduler.advance(by: .seconds(1))
        try first.subscribe()
        world.scheduler.advance(by: .seconds(31))
        other.forgetInbox()
        try first.save("a", in: "notes")
        world.scheduler.advance(by: .milliseconds(10))
        #expect(Self.names(other.pushes) == [["notes"]])
    }
}

extension SessionWorld {
    func identity(of account: String) throws -> Result<Identity?, FailureReason> {
        let service = server.service
        return try scheduler.complete {
            await service.authenticate(
                credentialHash: Array(account.utf8).reversed(), container: Self.container, environment: .development,
                createsContainer: true, device: DeviceID(high: 0, low: 0), deviceName: "test")
        }
    }
}
