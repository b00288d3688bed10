// SPDX-License-Identifier: Apache-2.0

import SessionTestSupport
import Testing
import TidemarkDomain
import TidemarkService
import TidemarkTestKit
import TidemarkTestSupport
import TidemarkWire

@testable import TidemarkSessions

/// Zone and database subscriptions that are narrowed to a record type.
@Suite struct PushCenterTypesTests {
    private static func subscription(_ id: String, type: String = "", zone: String? = nil) -> WireSubscription {
        var subscription = TestClient.subscription(id)
        subscription.recordType = type
        if let zone {
            subscription.kind = .recordZone
            subscription.zone = TestClient.zone(zone)
        }
        return subscription
    }

    private static func save(_ name: String, _ type: String, text: String = "text") throws -> WireRecordSave {
        var save = try TestClient.note(name, text: text)
        save.type = type
        return save
    }

    /// Alice's devices 1 and 2, with two zones and four subscriptions, and nothing left to be told.
    private func pair(
        _ world: SessionWorld, second: SessionWorld.Server? = nil
    ) throws -> (TestClient, TestClient) {
        let first = try world.enter(device: 1)
        for zone in ["notes", "more"] { try first.makeZone(zone) }
        for subscription in [
            Self.subscription("all"), Self.subscription("notes", type: "Note"),
            Self.subscription("tasks", type: "Task"), Self.subscription("zone", type: "Note", zone: "notes"),
        ] {
            #expect(try first.subscribe(to: subscription).failure.code == .unspecified)
        }
        let other = try world.enter(device: 2, server: second)
        settle(world, first, other)
        return (first, other)
    }

    private func settle(_ world: SessionWorld, _ clients: TestClient...) {
        world.scheduler.advance(by: .seconds(90))
        for client in clients { client.forgetInbox() }
    }

    /// The subscriptions of which a device was told, each with the zones of its pushes. They are forgotten.
    private func told(_ client: TestClient) -> [String] {
        defer { client.forgetInbox() }
        return client.pushes.map { push in
            "\(push.subscriptionID): \(push.zones.map(\.name).joined(separator: " "))"
        }
    }

    @Test func `R-247, R-262: a push goes out if a record of the type was saved or deleted, on each loop of a server`()
        throws
    {
        for loopCount in [1, 2] {
            let world = SessionWorld(loopCount: loopCount)
            let (first, other) = try pair(world, second: world.loops[loopCount - 1])
            let ofNote = ["all: notes", "notes: notes", "zone: notes"]
            let ofTask = ["all: notes", "tasks: notes"]
            for (type, expected) in [("Note", ofNote), ("Task", ofTask), ("Other", ["all: notes"])] {
                try first.modify([try Self.save(type, type)])
                #expect(told(other) == expected, "\(type) created")
                try first.modify([try Self.save(type, type, text: "new")])
                #expect(told(other) == expected, "\(type) changed")
                try first.modify([], deleting: [type])
                #expect(told(other) == expected, "\(type) deleted")
            }
            try first.modify([try Self.save("n", "Note")], in: "more")
            #expect(told(other) == ["all: more", "notes: more"])
            try first.modify([try Self.save("a", "Task"), try Self.save("b", "Note")])
            #expect(told(other) == ["all: notes", "notes: notes", "tasks: notes", "zone: notes"])
            #expect(first.pushes.isEmpty)
        }
    }

    @Test func `R-262: the sweep tells nobody of a type that has not changed, while all changes are this server's`()
        throws
    {
        let world = SessionWorld()
        let (first, other) = try pair(world)
        for name in ["a", "b"] {
            try first.modify([try Self.save(name, "Task")])
            world.scheduler.advance(by: .seconds(60))
        }
        let ids = Set(other.pushes.map(\.subscriptionID))
        #expect(ids == ["all", "tasks"])
        #expect(other.pushes.count { $0.subscriptionID == "tasks" } == 2)
    }

    @Test func `R-262, I-4: on another server any type may have changed, also if its notice is lost`() throws {
        let world = SessionWorld()
        let second = world.anotherServer()
        let (first, other) = try pair(world, second: second)
        let everything: Set = ["all", "notes", "tasks", "zone"]
        try first.modify([try Self.save("a", "Task")])
        world.scheduler.advance(by: .seconds(1))
        #expect(Set(other.pushes.map(\.subscriptionID)) == everything)
        settle(world, first, other)
        world.database.stopListening(second.listener)
        try first.modify([try Self.save("b", "Other")])
        world.scheduler.advance(by: .seconds(60))
        #expect(Set(other.pushes.map(\.subscriptionID)) == everything)
    }

    @Test func `R-247, R-262: a new zone is no record, and with one that is deleted any record may have gone`() throws {
        let world = SessionWorld()
        let (first, other) = try pair(world)
        try first.makeZone("new")
        #expect(told(other) == ["all: "])
        try first.deleteZone("new")
        #expect(told(other) == ["all: ", "notes: ", "tasks: "])
    }

    @Test func `R-253, R-262: whoever connects is told of each subscription, whatever has changed`() throws {
        let world = SessionWorld()
        let (first, other) = try pair(world)
        other.disconnect()
        try first.modify([try Self.save("a", "Other")])
        let back = try world.enter(device: 2)
        world.scheduler.runUntilIdle()
        #expect(back.pushes.map(\.subscriptionID) == ["all", "notes", "tasks", "zone"])
    }

    @Test func `R-262: of a change whose types are not known, and of too many types, all are told`() throws {
        let world = SessionWorld()
        let (first, other) = try pair(world)
        guard case .success(let identity?) = try world.identity(of: "alice") else {
            Issue.record("no identity")
            return
        }
        let notice = ZoneNotice(database: identity.privateDatabase, life: DeviceID(high: 0, low: 1), zoneName: "notes")
        let everything = ["all: notes", "notes: notes", "tasks: notes", "zone: notes"]
        world.server.hub.committed(ZonesMoved([notice]))
        world.scheduler.runUntilIdle()
        #expect(told(other) == everything)
        try first.modify(try (0..<8).map { try Self.save("r\($0)", "T\($0)") })
        #expect(told(other) == ["all: notes"])
        try first.modify(try (0..<9).map { try Self.save("s\($0)", "T\($0)") })
        #expect(told(other) == everything)
    }

    @Test func `R-247, R-262: in a shared database a push goes out for records of the type`() throws {
        let world = SessionWorld()
        let pair = try SharingPair(world)
        for subscription in [
            Self.subscription("all"), Self.subscription("notes", type: "Note"),
            Self.subscription("tasks", type: "Task"),
        ] {
            #expect(try pair.bob.subscribe(to: subscription, in: .shared).failure.code == .unspecified)
        }
        func change(_ saves: [WireRecordSave]) throws -> [String] {
            // What a sweep finds while nothing is written is told to all: a commit does not say how the mark changes.
            settle(world, pair.alice, pair.bob)
            try pair.alice.modify(saves)
            world.scheduler.advance(by: .milliseconds(10))
            return told(pair.bob)
        }
        #expect(try change([try Self.save("t", "Task")]) == ["all: ", "tasks: "])
        #expect(try change([try Self.save("n", "Note")]) == ["all: ", "notes: "])
        #expect(
            try change([try Self.save("x", "Task"), try Self.save("y", "Note")]) == ["all: ", "notes: ", "tasks: "])
        #expect(try change([try Self.save("o", "Other")]) == ["all: "])
    }
}
