// SPDX-License-Identifier: Apache-2.0

import SessionTestSupport
import Testing
import TidemarkBytes
import TidemarkDomain
import TidemarkSessions
import TidemarkTestKit
import TidemarkTestSupport
import TidemarkWire

/// How zones of several owners could be mixed up, or one kind of no be told from another, and must not.
@Suite struct ShareHandlersTrapsTests {
    @Test func `F-17, R-200, R-225: two owners' zones of one name are two, in each list, feed and token`() throws {
        let world = SessionWorld()
        world.issue("carol")
        let bob = try world.enter("bob", device: 1)
        var owners: [TestClient] = []
        var zones: [WireZoneID] = []
        for (index, name) in ["alice", "carol"].enumerated() {
            let owner = try world.enter(name, device: UInt64(index + 2))
            try owner.makeZone("notes")
            try owner.save("of \(name)", in: "notes")
            let share = try owner.share("notes", .readWrite)
            owners.append(owner)
            zones.append(try bob.join(share.share.link))
        }
        #expect(zones[0].name == zones[1].name && zones[0].owner != zones[1].owner)
        let feed = try bob.sharedChanges()
        #expect(feed.changed.count == 2 && feed.changed.contains(zones[0]) && feed.changed.contains(zones[1]))

        let pages = try zones.map { try bob.changes(of: $0) }
        let share = Share.zoneWideName
        #expect(pages[0].changes.map(\.record.name) == ["of alice", share])
        #expect(pages[1].changes.map(\.record.name) == ["of carol", share])
        #expect(throws: SessionWorld.Unexpected.self) { try bob.changes(of: zones[0], token: pages[1].token) }
        #expect(throws: SessionWorld.Unexpected.self) { try bob.changes(of: zones[1], token: pages[0].token) }

        #expect(try bob.save("b", in: zones[1]) == nil)
        #expect(try bob.changes(of: zones[0], token: pages[0].token).changes.isEmpty)
        #expect(try bob.changes(of: zones[1], token: pages[1].token).changes.map(\.record.name) == ["b"])
        #expect(try bob.sharedChanges(token: feed.token).changed == [zones[1]])

        var names = WireFetchZones()
        names.database = .shared
        names.zones = zones
        let tag = pages[0].changes.map(\.record).first { $0.name == share }?.tag ?? []
        _ = try owners[0].share("notes", .noAccess, tag: tag)
        let answer = try bob.ask(.fetchZones(names))
        guard case .fetchZones(let found)? = answer else { throw SessionWorld.Unexpected(answer) }
        #expect(found.zones.map(\.failure.code) == [.zoneNotFound, .unspecified])
        #expect(try bob.changes(of: zones[1]).changes.count == 3)
    }

    @Test func `F-17, R-189: a query and its next page are of one of two owners' zones of one name`() throws {
        let world = SessionWorld()
        world.issue("carol")
        let bob = try world.enter("bob", device: 1)
        var zones: [WireZoneID] = []
        for (index, name) in ["alice", "carol"].enumerated() {
            let owner = try world.enter(name, device: UInt64(index + 2))
            try owner.makeZone("notes")
            for number in 1...3 { try owner.save("\(name) \(number)", in: "notes") }
            zones.append(try bob.join(try owner.share("notes", .readWrite).share.link))
        }
        func page(_ zone: Int, after cursor: [UInt8] = []) throws -> WireQueryRecordsAnswer {
            let answer = try bob.ask(ShareRequests.notes(in: zones[zone], after: cursor, atMost: 2))
            guard case .queryRecords(let page)? = answer else { throw SessionWorld.Unexpected(answer) }
            return page
        }
        let names = [["alice 1", "alice 2", "alice 3"], ["carol 1", "carol 2", "carol 3"]]
        var cursors: [[UInt8]] = []
        for index in zones.indices {
            let first = try page(index)
            #expect(first.matches.count == 2 && first.matches.allSatisfy { !$0.hasZone || $0.zone == zones[index] })
            let rest = try page(index, after: first.cursor)
            #expect(rest.cursor.isEmpty)
            #expect((first.matches + rest.matches).map(\.record.name).sorted() == names[index])
            cursors.append(first.cursor)
        }
        for index in zones.indices {
            let answer = try bob.ask(ShareRequests.notes(in: zones[index], after: cursors[1 - index], atMost: 2))
            guard case .failure(let failure)? = answer else { throw SessionWorld.Unexpected(answer) }
            #expect(failure.code == .invalidArguments && failure.message == FailureReason.cursorInvalid.text)
        }
        // What bob adds to one is in that one alone.
        #expect(try bob.save("z", in: zones[1]) == nil)
        #expect(try page(1, after: cursors[1]).matches.map(\.record.name) == ["carol 3", "z"])
        #expect(try page(0, after: cursors[0]).matches.count == 1)
    }

    /// What became of a zone whose link somebody has.
    private enum LinkStory: CaseIterable {
        case neverInvited, removed, left, ended, deleted

        /// - Returns: the link, which is not for Bob in the end.
        func tell(_ alice: TestClient, _ bob: TestClient) throws -> String {
            let zone = "\(self)"
            try alice.makeZone(zone)
            let link = try alice.share(zone, self == .neverInvited ? .noAccess : .readWrite).share.link
            if self == .neverInvited { return link }
            let joined = try bob.join(link)
            if self == .left { try bob.leave(joined) }
            switch self {
            case .neverInvited: break
            case .removed, .left:
                let tag = try alice.ask(ShareRequests.shareRecord(of: TestClient.zone(zone))).shareTag
                try alice.share(zone, .noAccess, tag: tag)
            case .ended:
                let answer = try alice.ask(.modifyRecords(ShareRequests.endShare(of: zone, alice.stamp())))
                guard case .modifyRecords(let records)? = answer,
                    case .deleted? = records.zones.first?.deletes.first?.result
                else { throw SessionWorld.Unexpected(answer) }
            case .deleted: try alice.deleteZone(zone)
            }
            return link
        }
    }

    @Test func `F-13, R-316: answers about links that are not for somebody are the same, byte for byte`() throws {
        let world = SessionWorld()
        let alice = try world.enter("alice", device: 1)
        let bob = try world.enter("bob", device: 2)
        let unmade = ["", "open", String(repeating: "a", count: 32)]
        let links = try unmade + LinkStory.allCases.map { try $0.tell(alice, bob) }
        #expect(Set(links).count == 8)
        for accepts in [false, true] {
            var answers: Set<[UInt8]> = []
            for link in links {
                let id = bob.post(accepts ? ShareRequests.accept(link) : ShareRequests.metadata(link))
                world.scheduler.runUntilIdle()
                var answer = try #require(bob.inbox.first { $0.id == id })
                #expect(answer.failureCodes == [.unknownItem], "\(link)")
                answer.id = 0
                answers.insert(answer.encoded)
            }
            #expect(answers.count == 1)
        }
    }
}

extension Optional<WireServerEnvelope.OneOfAnswer> {
    /// The tag of the one record that was fetched.
    fileprivate var shareTag: [UInt8] {
        guard case .fetchRecords(let fetched)? = self else { return [] }
        return fetched.results.first?.record.tag ?? []
    }
}
