// SPDX-License-Identifier: Apache-2.0

import Foundation
import SessionTestSupport
import Synchronization
import Testing
import TidemarkDomain
import TidemarkService
import TidemarkSessions
import TidemarkTestKit
import TidemarkTestSupport
import TidemarkWire

/// Pushes that bring what changed, to devices that have read all before it and take it.
@Suite struct DevicePushMachineTests {
    /// A device that reads the feeds of "notes" and goes on from what it is pushed.
    private struct Follower {
        let client: TestClient
        var feed: [UInt8] = []
        var zone: [UInt8] = []
        /// The zones that the last answer named.
        var changed: [String] = []

        /// Asks for both feeds in one go.
        mutating func fetch(follows: Bool = true, limit: UInt32 = 0, zonesMax: UInt32 = 0) throws -> [String] {
            var request = WireFetchDatabaseChanges()
            request.database = .private
            request.token = feed
            request.follows = follows
            request.limit = zonesMax
            request.then = TestClient.zoneChanges("notes", token: zone, limit: limit)
            guard case .fetchDatabaseChanges(let answer)? = try client.ask(.fetchDatabaseChanges(request)) else {
                throw SessionWorld.Unexpected(nil)
            }
            return try take(answer)
        }

        /// - Returns: the names of the zone's records that changed.
        mutating func take(_ answer: WireFetchDatabaseChangesAnswer) throws -> [String] {
            feed = answer.token
            changed = answer.changed.map(\.name)
            guard answer.hasThen else { return [] }
            zone = answer.then.token
            return answer.then.changes.map { $0.deleted.name.isEmpty ? $0.record.name : "-" + $0.deleted.name }
        }

        /// What the pushes since the last call bring; nil where a push brings nothing.
        mutating func pushed() throws -> [[String]?] {
            let pushes = client.pushes
            client.forgetInbox()
            return try pushes.map { push in
                #expect(push.zones.map(\.name) == ["notes"])
                guard push.hasChanges else { return nil }
                #expect(push.changes.databaseToken == feed && push.changes.zoneToken == zone)
                #expect(push.changes.answer.hasThen)
                #expect(push.changes.zone.name == "notes" && push.changes.answer.changed.map(\.name) == ["notes"])
                return try take(push.changes.answer)
            }
        }
    }

    /// A device that writes, and one that has read everything.
    ///
    /// - Parameter second: where the reader is connected; nil: where the writer is.
    private func pair(
        _ world: SessionWorld, second: SessionWorld.Server? = nil, follows: Bool = true
    ) throws -> (TestClient, Follower) {
        let writer = try world.enter(device: 1)
        try writer.subscribe()
        try writer.makeZone("notes")
        var reader = Follower(client: try world.enter(device: 2, server: second))
        world.scheduler.advance(by: .seconds(60))
        #expect(try reader.fetch(follows: follows) == [])
        reader.client.forgetInbox()
        return (writer, reader)
    }

    @Test func `R-508: one push after the other brings what changed, and a fetch from there brings what follows`()
        throws
    {
        let world = SessionWorld()
        var (writer, reader) = try pair(world)
        try writer.save("a", in: "notes")
        #expect(try reader.pushed() == [["a"]])
        try writer.save("b", in: "notes")
        #expect(try reader.pushed() == [["b"]])
        #expect(try reader.fetch() == [])
        try writer.save("a", in: "notes", text: "new")
        #expect(try reader.pushed() == [["a"]])
    }

    @Test func `R-508: a device that does not take them is told that there is something, as ever`() throws {
        let world = SessionWorld()
        var (writer, reader) = try pair(world, follows: false)
        try writer.save("a", in: "notes")
        #expect(try reader.pushed() == [nil])
        #expect(try reader.fetch() == ["a"])
        try writer.save("b", in: "notes")
        #expect(try reader.pushed() == [["b"]])
        #expect(try reader.fetch(follows: false) == [])
        try writer.save("c", in: "notes")
        #expect(try reader.pushed() == [nil])
    }

    @Test func `I-2: who has not read all before it, or missed what was pushed, has to ask`() throws {
        let world = SessionWorld()
        var (writer, reader) = try pair(world)
        for name in ["a", "b", "c"] { try writer.save(name, in: "notes") }
        reader.client.forgetInbox()
        #expect(try reader.fetch(limit: 1) == ["a"], "in the middle of its reading")
        try writer.save("d", in: "notes")
        #expect(try reader.pushed() == [nil])
        #expect(try reader.fetch() == ["b", "c", "d"])
        try writer.save("e", in: "notes")
        #expect(try reader.pushed() == [["e"]])
    }

    @Test func `I-2: to a device that is in the middle of the list of zones nothing is brought`() throws {
        let world = SessionWorld()
        var (writer, reader) = try pair(world)
        for name in ["other", "more"] { try writer.makeZone(name) }
        try writer.save("a", in: "notes")
        reader.client.forgetInbox()
        #expect(try reader.fetch(zonesMax: 1) == [], "numbers are given out, and nothing comes with that")
        #expect(try reader.fetch(zonesMax: 1) == ["a"])
        try writer.save("b", in: "notes")
        #expect(try reader.pushed() == [nil])
        #expect(try reader.fetch() == ["b"])
        try writer.save("c", in: "notes")
        #expect(try reader.pushed() == [["c"]])
    }

    @Test func `I-2: a push of several zones, of which the news are known of one, brings nothing`() throws {
        let world = SessionWorld()
        var (writer, reader) = try pair(world)
        try writer.save("a", in: "notes")
        #expect(try reader.pushed() == [["a"]])
        guard case .success(let identity?) = try world.identity(of: "alice"),
            case .zone(let store, _, _, _, let place)? = ChangeToken(bytes: [UInt8](reader.zone))
        else { throw SessionWorld.Unexpected(nil) }
        let database = identity.privateDatabase
        let before = ZoneState(
            id: place.zone, key: ZoneKey(database: database, name: "notes"), createdAt: Timestamp(milliseconds: 0),
            changeNumber: place.number)
        let news = ZoneNews(store: store, before: before, changeNumber: place.number + 1, records: [])
        for names in [["notes", "other"], ["notes"]] {
            let notices = names.map { ZoneNotice(database: database, life: .nobody, zoneName: $0) }
            world.server.hub.committed(ZonesMoved(notices, news: [news]))
            #expect(reader.client.pushes.map(\.hasChanges) == [names.count == 1])
            reader.client.forgetInbox()
        }
    }

    @Test func `R-508: a save on one event loop brings what changed to a device on another`() throws {
        let world = SessionWorld(loopCount: 2)
        var (writer, reader) = try pair(world, second: world.loops[1])
        for name in ["a", "b"] {
            try writer.save(name, in: "notes")
            #expect(try reader.pushed() == [[name]])
        }
        try world.enter(device: 3, server: world.loops[1]).save("c", in: "notes")
        #expect(try reader.pushed() == [["c"]])
    }

    @Test func `I-2: what another server writes is not brought, nor what follows it before it was asked for`() throws {
        let world = SessionWorld()
        let second = world.anotherServer()
        var (writer, reader) = try pair(world)
        let remote = try world.enter(device: 3, server: second)
        try remote.save("far", in: "notes")
        world.scheduler.advance(by: .seconds(1))
        #expect(try reader.pushed() == [nil])
        try writer.save("near", in: "notes")
        #expect(try reader.pushed() == [nil])
        #expect(try reader.fetch() == ["far", "near"])
    }

    @Test func `I-4: among pushes that bring something each sweep makes a device ask, because a notice may be lost`()
        throws
    {
        let world = SessionWorld()
        let second = world.anotherServer()
        var (writer, reader) = try pair(world)
        let remote = try world.enter(device: 3, server: second)
        try remote.makeZone("far")
        world.scheduler.advance(by: .seconds(60))
        #expect(try reader.fetch() == [])
        reader.client.forgetInbox()
        // The notice of what moves there gets lost.
        second.faults.always(.notice, .disconnect)
        try remote.save("lost", in: "far")
        for round in 0..<4 {
            try writer.save("a", in: "notes", text: "\(round)")
            #expect(try reader.pushed() == [["a"]])
            world.scheduler.advance(by: .seconds(11))
            let bare = reader.client.pushes
            reader.client.forgetInbox()
            #expect(bare.map(\.hasChanges) == [false] && bare[0].zones.isEmpty)
            #expect(try reader.fetch() == [])
            #expect(reader.changed == (round == 0 ? ["far"] : []))
        }
        world.scheduler.advance(by: .seconds(60))
        reader.client.forgetInbox()
        world.scheduler.advance(by: .seconds(60))
        #expect(try reader.pushed() == [], "it has asked, and nothing moves")
    }

    @Test func `R-253: each subscription that fires brings the same`() throws {
        let world = SessionWorld()
        var (writer, reader) = try pair(world)
        try writer.subscribe("more")
        #expect(try reader.fetch() == [])
        reader.client.forgetInbox()
        try writer.save("a", in: "notes")
        let pushes = reader.client.pushes
        #expect(pushes.map(\.subscriptionID) == ["all", "more"])
        #expect(pushes.count == 2 && pushes[0].changes == pushes[1].changes && pushes[0].hasChanges)
    }

    @Test func `R-723: what very many subscriptions would bring each is asked for instead`() throws {
        let world = SessionWorld()
        var (writer, reader) = try pair(world)
        for number in 1..<17 { try writer.subscribe("s\(number)") }
        #expect(try reader.fetch() == [])
        reader.client.forgetInbox()
        try writer.save("a", in: "notes")
        #expect(try reader.pushed() == Array(repeating: nil, count: 17))
    }

    @Test func `R-508, R-723: two quick commits are brought to many devices in their order`() throws {
        let world = SessionWorld()
        let (writer, first) = try pair(world)
        var readers = [first]
        for number in UInt64(3)..<103 { readers.append(Follower(client: try world.enter(device: number))) }
        for index in readers.indices {
            _ = try readers[index].fetch()
            readers[index].client.forgetInbox()
        }
        // The second commit is made while the first is being pushed.
        let isSecondPosted = Mutex(false)
        first.client.onMessage { _ in
            let isPosted = isSecondPosted.withLock { isPosted in
                defer { isPosted = true }
                return isPosted
            }
            if !isPosted, let second = try? writer.saving("b", in: "notes") { writer.post(.modifyRecords(second)) }
        }
        try writer.save("a", in: "notes")
        for index in readers.indices { #expect(try readers[index].pushed() == [["a"], ["b"]], "\(index)") }
    }

    @Test func `R-047, R-508: a push brings what another user changed if the server knows the user's name`() throws {
        let world = SessionWorld()
        var (writer, reader) = try pair(world)
        let bob = try world.saveAsBob("a", in: "notes", counter: 1)
        #expect(try reader.pushed() == [nil], "to know it, the store must be asked")
        #expect(try reader.fetch() == ["a"])
        _ = try world.saveAsBob("b", in: "notes", counter: 2)
        let records = reader.client.pushes.flatMap(\.changes.answer.then.changes).map(\.record)
        #expect(records.map(\.createdBy) == [bob] && records.map(\.modifiedBy) == [bob])
        #expect(try reader.pushed() == [["b"]])
        // The user's own changes need no name.
        try writer.save("c", in: "notes")
        #expect(reader.client.pushes.flatMap(\.changes.answer.then.changes).map(\.record.createdBy) == [""])
        #expect(try reader.pushed() == [["c"]])
    }

    @Test func `I-7: large changes, and changes for a device that does not read, are not brought`() throws {
        let world = SessionWorld()
        var (writer, reader) = try pair(world)
        try writer.save("large", in: "notes", text: String(repeating: "x", count: ZoneNews.bytesMax))
        #expect(try reader.pushed() == [nil])
        #expect(try reader.fetch() == ["large"])
        reader.client.takesAnswers(false)
        try writer.save("a", in: "notes")
        try writer.save("b", in: "notes")
        reader.client.takesAnswers(true)
        #expect(try reader.pushed() == [["a"], nil])
        #expect(try reader.fetch() == ["b"])
    }

    @Test func `R-248: what a device did itself is not brought, and it asks for what others do after it`() throws {
        let world = SessionWorld()
        var (writer, reader) = try pair(world)
        try reader.client.save("own", in: "notes")
        #expect(try reader.pushed() == [])
        try writer.save("a", in: "notes")
        #expect(try reader.pushed() == [nil])
        #expect(try reader.fetch() == ["own", "a"])
    }

    @Test func `I-2, R-204: a zone that was deleted and made again is asked for`() throws {
        let world = SessionWorld()
        var (writer, reader) = try pair(world)
        try writer.deleteZone("notes")
        try writer.makeZone("notes")
        reader.client.forgetInbox()
        try writer.save("a", in: "notes")
        #expect(try reader.pushed() == [nil])
    }
}
