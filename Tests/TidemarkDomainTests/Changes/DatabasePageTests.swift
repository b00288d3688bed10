// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain

@Suite struct DatabasePageTests {
    func entry(
        _ number: ChangeNumber, _ name: String, zone: Int64, _ removal: ZoneRemovalReason? = nil
    ) -> DatabaseFeedEntry {
        DatabaseFeedEntry(
            number: number, zone: ZoneID(zone), key: ZoneKey(database: database, name: name), removal: removal)
    }

    func page(
        _ entries: [DatabaseFeedEntry], head: ChangeNumber, oldest: ChangeNumber = 0, after: ChangeNumber? = 0,
        tellsEnds: Bool = false, max: Int = 100, hasMore: Bool = false
    ) -> Result<DatabasePage, FailureReason> {
        let read = DatabaseFeedRead(
            head: head, oldestToken: oldest, isBehind: false, entries: entries, hasMore: hasMore)
        return DatabasePage.make(
            of: read, viewer: database, after: after, tellsEnds: tellsEnds, entriesMax: max, store: store)
    }

    func token(_ number: ChangeNumber) -> ChangeToken {
        .database(store: store, viewer: database, number: number)
    }

    @Test func `R-203, R-212: zones that changed, each once, and a token`() throws {
        let page = try page([entry(3, "A", zone: 1), entry(5, "B", zone: 2)], head: 6).get()
        #expect(page.changed.map(\.key.name) == ["A", "B"] && page.ended.isEmpty)
        #expect(page.token == token(6) && !page.moreComing)
        let empty = try self.page([], head: 6, after: 6).get()
        #expect(empty.changed.isEmpty && empty.token == token(6) && !empty.moreComing)
    }

    @Test func `R-204: with no token only existing zones`() throws {
        let entries = [entry(1, "A", zone: 1, .deleted), entry(2, "A", zone: 2), entry(3, "B", zone: 3, .purged)]
        let page = try page(entries, head: 3, after: nil).get()
        #expect(page.changed.map(\.zone) == [ZoneID(2)] && page.ended.isEmpty && page.token == token(3))
        // Unless the client has been here before; however old the ends are that the feed still knows.
        let returning = try self.page(entries, head: 3, oldest: 1, after: nil, tellsEnds: true).get()
        #expect(returning.changed.map(\.zone) == [ZoneID(2)] && returning.ended.map(\.zone) == [ZoneID(1), ZoneID(3)])
    }

    @Test func `R-205, R-207: ends come apart from changes with their reason, and of one name the last`() throws {
        let entries = [
            entry(1, "A", zone: 1, .deleted), entry(2, "A", zone: 2, .purged), entry(3, "A", zone: 3),
            entry(4, "B", zone: 4, .encryptedDataReset),
        ]
        let page = try page(entries, head: 4).get()
        #expect(page.ended.map(\.zone) == [ZoneID(2), ZoneID(4)])
        #expect(page.ended.map(\.removal) == [.purged, .encryptedDataReset])
        #expect(page.changed.map(\.zone) == [ZoneID(3)])
    }

    @Test func `R-202: the default zone is in no feed`() throws {
        let entries = [entry(1, ZoneName.default, zone: 1), entry(2, "A", zone: 2)]
        let page = try page(entries, head: 2).get()
        #expect(page.changed.map(\.key.name) == ["A"])
        // Unless the container says otherwise, which is beyond CloudKit.
        let read = DatabaseFeedRead(head: 2, isBehind: false, feedsEverywhere: true, entries: entries, hasMore: false)
        for after in [nil, 0] as [ChangeNumber?] {
            let page = try DatabasePage.make(of: read, viewer: database, after: after, entriesMax: 9, store: store)
                .get()
            #expect(page.changed.map(\.key.name) == [ZoneName.default, "A"])
        }
    }

    @Test func `R-212: a full page ends with its last entry`() throws {
        let entries = [entry(1, "A", zone: 1), entry(4, "B", zone: 2), entry(7, "C", zone: 3)]
        let cut = try page(entries, head: 9, max: 2).get()
        #expect(cut.changed.count == 2 && cut.token == token(4) && cut.moreComing)
        let asked = try page(entries, head: 9, max: 3, hasMore: true).get()
        #expect(asked.changed.count == 3 && asked.token == token(7) && asked.moreComing)
        let last = try page(entries, head: 9, max: 3).get()
        #expect(last.token == token(9) && !last.moreComing)
        #expect(page([], head: 9, hasMore: true) == .failure(.serverFault))
    }

    @Test func `R-220, R-221: tokens that are ahead or too old are expired`() {
        for (after, isExpired) in [(1, true), (2, false), (9, false), (10, true)] as [(ChangeNumber, Bool)] {
            let result = page([], head: 9, oldest: 2, after: after)
            #expect((result == .failure(.tokenExpired)) == isExpired)
        }
        #expect(page([], head: 1, oldest: 5, after: 3) == .failure(.tokenExpired))
    }
}
