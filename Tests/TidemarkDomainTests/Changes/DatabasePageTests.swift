// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain

@Suite struct DatabasePageTests {
    func entry(
        _ number: ChangeNumber?, _ name: String, zone: Int64, _ removal: ZoneRemovalReason? = nil,
        at changeNumber: ChangeNumber = 1
    ) -> DatabaseFeedEntry {
        DatabaseFeedEntry(
            number: number, zone: ZoneID(zone), key: ZoneKey(database: database, name: name),
            changeNumber: changeNumber, removal: removal)
    }

    func page(
        _ entries: [DatabaseFeedEntry], unnumbered: [DatabaseFeedEntry] = [], head: ChangeNumber,
        oldest: ChangeNumber = 0, after: ChangeNumber? = 0, ahead: [FeedPosition.Ahead] = [], tellsEnds: Bool = false,
        max: Int = 100, hasMore: Bool = false
    ) -> Result<DatabasePage, FailureReason> {
        let read = DatabaseFeedRead(
            head: head, oldestToken: oldest, unnumbered: unnumbered, entries: entries, hasMore: hasMore)
        return DatabasePage.make(
            of: read, viewer: database, after: after.map { FeedPosition(number: $0, ahead: ahead) },
            tellsEnds: tellsEnds, entriesMax: max, store: store)
    }

    func token(_ number: ChangeNumber, ahead: [FeedPosition.Ahead] = []) -> ChangeToken {
        .database(store: store, viewer: database, position: FeedPosition(number: number, ahead: ahead))
    }

    func ahead(_ zone: Int64, _ changeNumber: ChangeNumber) -> FeedPosition.Ahead {
        .init(zone: ZoneID(zone), changeNumber: changeNumber)
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
        let read = DatabaseFeedRead(head: 2, feedsEverywhere: true, entries: entries, hasMore: false)
        for after in [nil, FeedPosition(number: 0)] as [FeedPosition?] {
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

    @Test func `R-203, R-212: zones without a number are told of last, and the token says in what state`() throws {
        let news = [entry(nil, "C", zone: 7, at: 4), entry(nil, "B", zone: 3, at: 9)]
        let page = try page([entry(5, "A", zone: 1)], unnumbered: news, head: 5).get()
        #expect(page.changed.map(\.key.name) == ["A", "B", "C"] && !page.moreComing)
        #expect(page.token == token(5, ahead: [ahead(3, 9), ahead(7, 4)]))
        let first = try self.page([], unnumbered: news, head: 5, after: nil).get()
        #expect(first.changed.map(\.key.name) == ["B", "C"] && first.token == page.token)
    }

    @Test func `I-2: what a token tells of is not told again, what has changed since is, numbered or not`() throws {
        let told = [ahead(3, 9), ahead(7, 4)]
        for number in [nil, 6] as [ChangeNumber?] {
            for (entries, names) in [
                ([entry(number, "B", zone: 3, at: 9), entry(number, "C", zone: 7, at: 4)], []),
                ([entry(number, "B", zone: 3, at: 10), entry(number, "C", zone: 7, at: 4)], ["B"]),
                ([entry(number, "B", zone: 3, at: 10), entry(number, "C", zone: 7, at: 5)], ["B", "C"]),
                ([entry(number, "B", zone: 4, at: 9)], ["B"]),
            ] as [([DatabaseFeedEntry], [String])] {
                let (numbered, news) = number == nil ? ([], entries) : (entries, [])
                let page = try page(numbered, unnumbered: news, head: 6, after: 5, ahead: told).get()
                #expect(page.changed.map(\.key.name) == names)
                let states = news.map { ahead($0.zone.rawValue, $0.changeNumber) }
                #expect(page.token == token(6, ahead: states))
            }
        }
        let ended = try page([entry(6, "B", zone: 3, .deleted, at: 9)], head: 6, after: 5, ahead: told).get()
        #expect(ended.ended.map(\.zone) == [ZoneID(3)], "an end is news, whatever the zone's number")
    }

    @Test func `R-203: a zone that has moved since it got its number is told of once`() throws {
        let entries = [entry(4, "A", zone: 1, at: 5), entry(6, "B", zone: 3, at: 9)]
        let news = [entry(nil, "A", zone: 1, at: 7)]
        for after in [nil, 2] as [ChangeNumber?] {
            let page = try page(entries, unnumbered: news, head: 6, after: after).get()
            #expect(page.changed.map(\.key.name) == ["B", "A"] && page.token == token(6, ahead: [ahead(1, 7)]))
        }
        // Its number came late, and is that of an earlier state than was told.
        let late = try page([entry(7, "A", zone: 1, at: 6)], head: 7, after: 6, ahead: [ahead(1, 7)]).get()
        #expect(late.changed.isEmpty)
    }

    @Test func `I-2: a page that is cut tells of no zone without a number, and its token keeps what was told`() throws {
        let entries = [entry(6, "A", zone: 1), entry(7, "B", zone: 3, at: 10)]
        let news = [entry(nil, "C", zone: 7, at: 4)]
        let cut = try page(entries, unnumbered: news, head: 7, after: 5, ahead: [ahead(3, 9)], max: 1).get()
        #expect(cut.changed.map(\.key.name) == ["A"] && cut.moreComing && cut.token == token(6, ahead: [ahead(3, 9)]))
    }

    @Test func `zones need numbers if they are too many, do not fit, or one has ended`() throws {
        let full = (0..<Int64(FeedPosition.aheadMax)).map { entry(nil, "Z\($0)", zone: $0) }
        for (news, entryCount, max, hasMore, needs) in [
            ([], 2, 2, false, false), (full, 0, 100, false, false),
            (full + [entry(nil, "more", zone: 99)], 0, 100, false, true),
            (Array(full.prefix(1)), 2, 3, false, false), (Array(full.prefix(1)), 2, 2, false, true),
            (Array(full.prefix(1)), 2, 2, true, false), ([entry(nil, "A", zone: 1, .deleted)], 0, 100, false, true),
        ] as [([DatabaseFeedEntry], Int, Int, Bool, Bool)] {
            let entries = (0..<Int64(entryCount)).map { entry($0 + 1, "E\($0)", zone: 100 + $0) }
            let read = DatabaseFeedRead(head: 9, unnumbered: news, entries: entries, hasMore: hasMore)
            #expect(read.needsNumbers(entriesMax: max) == needs)
            guard needs else { continue }
            // If others move between the numbers and the read, they are for the next fetch.
            let page = try page(entries, unnumbered: news, head: 9, ahead: [ahead(5, 5)], max: max).get()
            #expect(page.changed.count == entryCount && page.token == token(9, ahead: [ahead(5, 5)]))
        }
    }

    @Test func `R-225, I-2: a zone that is new in a shared database is told of with a number alone`() throws {
        var read = DatabaseFeedRead(
            head: 9, unnumbered: [entry(nil, "A", zone: 1)], entries: [entry(9, "B", zone: 2)], hasMore: false)
        for mustNumber in [false, true] {
            read.mustNumber = mustNumber
            #expect(read.needsNumbers(entriesMax: 100) == mustNumber)
            let page = try DatabasePage.make(
                of: read, viewer: database, after: FeedPosition(number: 8), entriesMax: 100, store: store
            ).get()
            #expect(page.changed.map(\.key.name) == (mustNumber ? ["B"] : ["B", "A"]))
            #expect(page.token == token(9, ahead: mustNumber ? [] : [ahead(1, 1)]))
        }
    }

    @Test func `R-225: the end before a zone's present state is told, on a page of its own or with any later state`()
        throws
    {
        let entries = [entry(5, "A", zone: 1, .deleted, at: 9), entry(6, "A", zone: 1, at: 9)]
        let cut = try page(entries, head: 6, after: 4, max: 1).get()
        #expect(cut.ended.map(\.zone) == [ZoneID(1)] && cut.changed.isEmpty)
        #expect(cut.token == token(5) && cut.moreComing)
        for news in [[], [entry(nil, "A", zone: 1, at: 10)]] {
            let page = try page(entries, unnumbered: news, head: 6, after: 4, ahead: [ahead(1, 3)]).get()
            #expect(page.ended.map(\.zone) == [ZoneID(1)])
            #expect(page.changed.map(\.changeNumber) == [news.isEmpty ? 9 : 10])
        }
        let first = try page(entries, head: 6, after: nil).get()
        #expect(first.ended.isEmpty && first.changed.map(\.zone) == [ZoneID(1)])
    }

    @Test func `R-220, R-221: tokens that are ahead or too old are expired`() {
        for (after, isExpired) in [(1, true), (2, false), (9, false), (10, true)] as [(ChangeNumber, Bool)] {
            let result = page([], head: 9, oldest: 2, after: after)
            #expect((result == .failure(.tokenExpired)) == isExpired)
        }
        #expect(page([], head: 1, oldest: 5, after: 3) == .failure(.tokenExpired))
    }
}
