// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkService

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
        #expect(lists.isEmpty && lists.viewers(concernedBy: notice("a", of: alice)).isEmpty)
        let isNew1 = lists.set([key("a", of: alice), key("b", of: alice)], of: bob)
        #expect(isNew1)
        let isNew2 = lists.set([key("a", of: alice), key("a", of: dave)], of: carol)
        #expect(isNew2)
        #expect(!lists.isEmpty)
        for (name, owner, expected) in [
            ("a", alice, [bob, carol]), ("b", alice, [bob]), ("c", alice, []), ("", alice, [bob, carol]),
            ("a", dave, [carol]), ("", dave, [carol]), ("a", bob, []),
        ] as [(String, DatabaseID, Set<DatabaseID>)] {
            #expect(lists.viewers(concernedBy: notice(name, of: owner)) == expected, "\(name) of \(owner)")
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
        #expect(lists.isEmpty && lists.viewers(concernedBy: notice("", of: alice)).isEmpty)
    }

    @Test func `R-764: the growth of a shared database is known if every change of its owners is in the list`() {
        var lists = SharedZoneLists()
        _ = lists.set([key("a", of: alice), key("a", of: dave)], of: bob)
        for (names, growth, expected) in [
            ([("a", alice)], [alice: 3], 3), ([("a", alice), ("a", dave)], [alice: 3, dave: 4], 7),
            ([("a", alice)], [:], nil), ([("a", alice), ("b", alice)], [alice: 3], nil),
            ([("", alice)], [alice: 1], nil),
            ([("a", alice), ("", bob)], [alice: 3], nil), ([("x", carol)], [carol: 9], 0),
        ] as [([(String, DatabaseID)], [DatabaseID: Int64], Int64?)] {
            let moved = ZonesMoved(names.map { notice($0.0, of: $0.1) }, growth: growth)
            #expect(lists.growth(of: bob, by: moved) == expected, "\(names)")
        }
    }
}
