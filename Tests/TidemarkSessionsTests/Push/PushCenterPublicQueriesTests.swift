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

/// Devices with query subscriptions in a public database, whose server may have missed something.
@Suite struct PushCenterPublicQueriesTests {
    /// Alice writes at the first server. Bob has a subscription in the public database, and one in his own, and a device at each
    /// server.
    private struct Story {
        let world = SessionWorld(firesQueries: true)
        let second: SessionWorld.Server
        let writer: TestClient
        let near: TestClient
        let far: TestClient

        init() throws {
            second = world.anotherServer()
            writer = try world.enter("alice", device: 1)
            near = try world.enter("bob", device: 2)
            far = try world.enter("bob", device: 3, server: second)
            try write("first")
            try near.subscribe(to: TestClient.query("own"))
            // The other server hears of that one, and then knows both.
            try near.subscribe(to: TestClient.query("q"), in: .public)
            settle()
        }

        func write(_ name: String, type: String = "Note") throws {
            var save = try TestClient.note(name)
            save.type = type
            try writer.modify([save], in: "_defaultZone", .public)
        }

        func settle() {
            world.scheduler.advance(by: .seconds(90))
            for client in [writer, near, far] { client.forgetInbox() }
        }

        /// What Bob's devices are told meanwhile.
        func told(within time: Duration) -> [[String]] {
            world.scheduler.advance(by: time)
            defer { for client in [near, far] { client.forgetInbox() } }
            return [near, far].map { $0.queryNews.sorted() }
        }
    }

    @Test func `R-263: while notices come, devices hear of records and of nothing else`() throws {
        let story = try Story()
        for name in ["a", "b"] {
            try story.write(name)
            try story.write("other \(name)", type: "Other")
            let told = story.told(within: .seconds(60))
            #expect(told == [["q \(name) 1"], ["q \(name) 1"]])
        }
        // Not a second of rest.
        for number in 0..<60 {
            try story.write("c\(number)", type: number % 3 == 0 ? "Note" : "Other")
            let told = story.told(within: .milliseconds(700))
            #expect(told.joined().allSatisfy { !$0.hasSuffix("?") }, "\(number)")
        }
        let told = story.told(within: .seconds(60))
        #expect(told == [[], []])
    }

    @Test func `R-263, I-4: of a change whose notices are lost devices are told once, in public databases too`() throws
    {
        let story = try Story()
        story.world.database.stopListening(story.second.listener)
        for name in ["a", "b"] {
            try story.write(name)
            let told = story.told(within: .seconds(25))
            #expect(told == [["q \(name) 1"], ["own ?", "q ?"]])
            #expect(story.told(within: .seconds(60)) == [[], []])
        }
    }

    @Test func `R-263, I-4: what a server has written that died before it told of it is told on all servers`() throws {
        let story = try Story()
        let world = story.world
        let container = ContainerKey(identifier: SessionWorld.container, environment: .development)
        // It commits, and nobody hears of it.
        let dying = CloudService(
            storage: MemoryStore(world.database), scheduler: world.scheduler, limits: Limits(), onMoved: { _ in })
        let database = try world.scheduler.complete { try await dying.publicDatabase(of: container).get().database }
        let user = UserID(987)
        let request = RecordsRequest(
            id: RequestID(device: DeviceID(high: 0, low: 7), counter: 1, lowestUnanswered: 1),
            key: ZoneKey(database: database, name: ZoneName.default),
            saves: [RecordSave(name: "a", type: "Note", tag: nil, fields: FieldMap(), parent: .unchanged)], deletes: [],
            policy: .allKeys, isAtomic: false, user: user, access: RecordAccess(scope: .public, user: user))
        let outcomes = try world.scheduler.complete { await dying.modifyRecords([request], for: .nobody) }
        guard case .saved? = try outcomes[0].get().saves.first else {
            Issue.record("not saved")
            return
        }
        #expect(story.told(within: .seconds(25)) == [["own ?", "q ?"], ["own ?", "q ?"]])
        #expect(story.told(within: .seconds(60)) == [[], []])
    }

    @Test func `R-263, I-4: after a gap in what a server hears its devices are told once`() throws {
        let story = try Story()
        // Of this the server has not heard.
        story.world.database.stopListening(story.second.listener)
        try story.write("lost")
        story.world.scheduler.advance(by: .seconds(2))
        story.second.hub.noticesMissed()
        #expect(story.told(within: .seconds(60)) == [["q lost 1"], ["own ?", "q ?"]])
    }

    @Test func `R-263, I-4: a gap of which nothing was lost is told once`() throws {
        let story = try Story()
        story.second.hub.noticesMissed()
        #expect(story.told(within: .seconds(60)) == [[], ["own ?", "q ?"]])
        // All is well again.
        try story.write("a")
        #expect(story.told(within: .seconds(60)) == [["q a 1"], ["q a 1"]])
    }

    @Test func `R-265: what a server committed before it heard of a subscription is told on all servers`() throws {
        let story = try Story()
        let world = story.world
        let container = ContainerKey(identifier: SessionWorld.container, environment: .development)
        let service = world.server.service
        let database = try world.scheduler.complete { try await service.publicDatabase(of: container).get().database }
        func told() -> [[String]] {
            story.told(within: .seconds(1)).map { $0.filter { !$0.hasPrefix("own") } }
        }
        try story.write("a")
        #expect(told() == [["q a 1"], ["q a 1"]])
        world.database.stopListening(world.server.listener)
        try story.far.subscribe(to: TestClient.query("late"), in: .public)
        _ = told()
        try story.write("b")
        #expect(told() == [["q b 1"], ["q b 1"]])
        world.server.hub.heard([.queriesChanged(database)])
        #expect(told() == [["late ?"], ["late ?"]])
        try story.write("c")
        #expect(told() == [["late c 1", "q c 1"], ["late c 1", "q c 1"]])
    }
}
