// SPDX-License-Identifier: Apache-2.0

import SessionTestSupport
import Testing
import TidemarkDomain
import TidemarkSessions
import TidemarkTestKit
import TidemarkTestSupport
import TidemarkWire

/// How zones of several owners could be mixed up, and must not.
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
}
