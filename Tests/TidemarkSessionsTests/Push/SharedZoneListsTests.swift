// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkService
import TidemarkTestSupport

@testable import TidemarkSessions

@Suite struct SharedZoneListsTests {
    private let alice = DatabaseID(1)
    private let dave = DatabaseID(2)
    private let bob = DatabaseID(11)
    private let carol = DatabaseID(12)

    private func key(_ name: String, of owner: DatabaseID) -> ZoneKey { ZoneKey(database: owner, name: name) }

    private func notice(_ name: String, of database: DatabaseID) -> ZoneNotice {
        ZoneNotice(database: database, life: .nobody, zoneName: name)
    }

    @Test func `R-334: a change concerns those who have the zone in their lists`() {
        var lists = SharedZoneLists()
        #expect(lists.viewers(concernedBy: notice("a", of: alice)).isEmpty && !lists.knows(bob))
        let isNew1 = lists.set([key("a", of: alice), key("b", of: alice)], of: bob)
        #expect(isNew1 && lists.knows(bob))
        let isNew2 = lists.set([key("a", of: alice), key("a", of: dave)], of: carol)
        #expect(isNew2)
        for (name, owner, expected) in [
            ("a", alice, [bob, carol]), ("b", alice, [bob]), ("c", alice, []), ("", alice, [bob, carol]),
            ("a", dave, [carol]), ("", dave, [carol]), ("a", bob, []),
        ] as [(String, DatabaseID, [DatabaseID])] {
            #expect(lists.viewers(concernedBy: notice(name, of: owner)) == expected, "\(name) of \(owner)")
            #expect(lists.isListed(key(name, of: owner), by: bob) == expected.contains(bob), "\(name) of \(owner)")
        }
        // A shorter list has no other zone, and what is not in it concerns nobody.
        let isNew3 = lists.set([key("b", of: alice)], of: bob)
        #expect(!isNew3)
        #expect(lists.viewers(concernedBy: notice("a", of: alice)) == [carol])
        let isNew4 = lists.set([key("b", of: alice), key("c", of: alice)], of: bob)
        #expect(isNew4)
        lists.remove(carol)
        #expect(lists.viewers(concernedBy: notice("", of: dave)).isEmpty)
        lists.remove(bob)
        #expect(!lists.knows(bob) && lists.viewers(concernedBy: notice("", of: alice)).isEmpty)
    }

    @Test func `R-334: whatever lists are set and removed, a change concerns those who have the zone, in order`() {
        var random = SeededRandom(seed: 334)
        func below(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }
        let keys = [alice, dave].flatMap { owner in (0..<4).map { key("\($0)", of: owner) } }
        let viewers = (11...20 as ClosedRange<Int64>).map { DatabaseID($0) }
        var lists = SharedZoneLists()
        var expected: [DatabaseID: Set<ZoneKey>] = [:]
        for _ in 0..<2_000 {
            let viewer = viewers[below(viewers.count)]
            if below(4) == 0 {
                lists.remove(viewer)
                expected[viewer] = nil
            } else {
                let new = keys.filter { _ in below(3) == 0 }
                let old = expected[viewer] ?? []
                let hasNew = lists.set(new, of: viewer)
                #expect(hasNew == !old.isSuperset(of: new))
                expected[viewer] = Set(new)
            }
            let key = keys[below(keys.count)]
            let having = viewers.filter { expected[$0]?.contains(key) ?? false }
            #expect(lists.viewers(concernedBy: notice(key.name, of: key.database)) == having)
            let any = viewers.filter { expected[$0]?.contains { $0.database == key.database } ?? false }
            #expect(lists.viewers(concernedBy: notice("", of: key.database)) == any)
        }
    }

    @Test func `I-4: lists that were read longest ago are renewed first`() {
        var lists = SharedZoneLists()
        for (number, viewer) in [carol, bob, dave].enumerated() { _ = lists.set([], of: viewer, afterSweep: number) }
        #expect(lists.oldest(9, readBefore: 0).isEmpty)
        #expect(lists.oldest(9, readBefore: 2) == [carol, bob])
        #expect(lists.oldest(1, readBefore: 9) == [carol])
        _ = lists.set([], of: carol, afterSweep: 7)
        #expect(lists.oldest(2, readBefore: 9) == [bob, dave])
    }
}
