// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkFields

@Suite struct ZonePageTests {
    func query(
        _ zone: TestZone, after: ChangeNumber? = 0, records: Int = 100, bytes: Int = 1_000_000,
        device: DeviceID = phone, tellsEnds: Bool = false, reader: RecordAccess? = nil, feedsEverywhere: Bool = false,
        passed: Int = 100
    ) -> ZonePageQuery {
        ZonePageQuery(
            key: zone.key, after: after.map { .init(zone: ZoneID(70), number: $0) }, recordsMax: records,
            bytesMax: bytes, device: device, tellsEnds: tellsEnds, reader: reader, feedsEverywhere: feedsEverywhere,
            tombstonesPassedMax: passed)
    }

    func page(_ zone: TestZone, _ query: ZonePageQuery, extra: Int = 1) -> Result<ZonePage, FailureReason> {
        ZonePage.make(of: zone.read(query, extra: extra), for: query, store: store)
    }

    func number(_ page: ZonePage) -> ChangeNumber? {
        if case .zone(_, _, _, _, let position) = page.token { position.number } else { nil }
    }

    @Test func `R-208, R-209, R-210, R-702: one entry a record with its latest state, oldest change first`() throws {
        var zone = TestZone()
        zone.save(save("a"), save("b"), save("c"))
        zone.save(save("a", fields(["k": 2])), policy: .changedKeys)
        zone.save(save("d"))
        zone.delete("d", "b")
        zone.delete("c")
        zone.save(save("c", fields(["k": 3])))
        let entries = try page(zone, query(zone)).get().entries
        #expect(entries.map(\.name) == ["a", "d", "b", "c"])
        #expect(entries.map(\.isDeleted) == [false, true, true, false])
        #expect(entries.allSatisfy { $0.type == "Item" })
    }

    @Test func `R-212: every page has a token; one with nothing after it gives nothing, a token and no more`() throws {
        var zone = TestZone()
        let empty = try page(zone, query(zone, after: nil)).get()
        #expect(empty.entries.isEmpty && !empty.moreComing && number(empty) == 0)
        zone.save(save("a"), save("b"))
        zone.save(save("a", fields(["k": 2])), policy: .changedKeys)
        let last = try page(zone, query(zone, after: 3)).get()
        #expect(last.entries.isEmpty && !last.moreComing && number(last) == 3)
    }

    @Test func `R-212, R-214: a full page ends with its last record, a short one with the zone's number`() throws {
        var zone = TestZone()
        zone.save(save("a"), save("b"), save("c"), save("d"))
        zone.delete("d")
        zone.save(save("d"))
        for extra in [0, 1, 10] {
            let first = try page(zone, query(zone, records: 2), extra: extra).get()
            #expect(first.entries.map(\.name) == ["a", "b"] && first.moreComing && number(first) == 2)
            let second = try page(zone, query(zone, after: 2, records: 2), extra: extra).get()
            #expect(second.entries.map(\.name) == ["c", "d"] && !second.moreComing && number(second) == 6)
        }
    }

    @Test func `R-214: a page is cut at its bytes, but holds at least one record`() throws {
        var zone = TestZone()
        zone.save(save("a", bigFields(100)), save("b", bigFields(100)), save("c", bigFields(500)))
        let first = try page(zone, query(zone, bytes: 300)).get()
        #expect(first.entries.map(\.name) == ["a", "b"] && first.moreComing && number(first) == 2)
        let second = try page(zone, query(zone, after: 2, bytes: 300)).get()
        #expect(second.entries.map(\.name) == ["c"] && !second.moreComing)
        #expect(Limits().pageCount(requested: 0) == 200 && Limits().pageCount(requested: -1) == 200)
        #expect(Limits().pageCount(requested: 7) == 7 && Limits().pageCount(requested: .max) == 1_000)
    }

    @Test func `I-3: a page ends where an atomic batch ends, if the batch fits in a page`() throws {
        for extra in [0, 1, 10] {
            var zone = TestZone()
            zone.save(save("a"))
            zone.save(save("b"), save("c"), save("d"), atomic: true)
            zone.save(save("e"))
            func ends(_ count: Int) throws -> [String] {
                var after: ChangeNumber = 0
                var pages: [String] = []
                for _ in 0..<10 {
                    let page = try page(zone, query(zone, after: after, records: count), extra: extra).get()
                    pages.append(page.entries.map(\.name).joined())
                    if !page.moreComing { break }
                    after = number(page) ?? 0
                }
                return pages
            }
            #expect(try ends(3) == ["a", "bcd", "e"])
            #expect(try ends(4) == ["abcd", "e"])
            #expect(try ends(5) == ["abcde"])
            // Longer than a page: it is split rather than kept back.
            #expect(try ends(2) == ["a", "bc", "de"])
            #expect(try ends(1) == ["a", "b", "c", "d", "e"])
        }
    }

    @Test func `I-3: what is left of a batch may end anywhere that no more of it follows`() throws {
        var zone = TestZone()
        zone.save(save("a"), save("b"), save("c"), atomic: true)
        zone.save(save("d"))
        zone.save(save("c", fields(["k": 2])), policy: .changedKeys)
        let first = try page(zone, query(zone, records: 2)).get()
        #expect(first.entries.map(\.name) == ["a", "b"] && number(first) == 2)
    }

    @Test func `R-211: with no token come living records, and ends of those that the device created`() throws {
        var zone = TestZone()
        zone.save(save("mine"), save("kept"), device: phone)
        zone.save(save("theirs"), device: laptop)
        zone.delete("mine", "theirs")
        func names(_ device: DeviceID, after: ChangeNumber?) throws -> [String] {
            try page(zone, query(zone, after: after, device: device)).get().entries.map(\.name)
        }
        #expect(try names(phone, after: nil) == ["kept", "mine"])
        #expect(try names(laptop, after: nil) == ["kept", "theirs"])
        #expect(try names(DeviceID(high: 9, low: 9), after: nil) == ["kept"])
        #expect(try names(DeviceID(high: 9, low: 9), after: 2) == ["mine", "theirs"])
        // Records that are left out count for the token, not for the size.
        let first = try page(zone, query(zone, after: nil, records: 1, device: DeviceID(high: 9, low: 9))).get()
        #expect(first.entries.map(\.name) == ["kept"] && number(first) == 4 && first.moreComing)
    }

    @Test func `R-211: who has been here before is told of all ends, over all pages, even with no token`() throws {
        var zone = TestZone()
        zone.save(save("kept"), save("a"), save("b"), device: laptop)
        zone.delete("a", "b")
        let all = try page(zone, query(zone, after: nil, tellsEnds: true)).get()
        #expect(all.entries.map(\.name) == ["kept", "a", "b"] && number(all) == 5)
        let first = try page(zone, query(zone, after: nil, records: 2, tellsEnds: true)).get()
        guard case .zone(_, _, _, _, let position) = first.token else { return }
        #expect(first.entries.map(\.name) == ["kept", "a"] && position == .init(zone: ZoneID(70), number: 4))
    }

    @Test func `R-211: a first fetch of many pages gets no older deletions either, but those since it began`() throws {
        var zone = TestZone()
        let names = ["a", "b", "c", "d", "e"]
        for name in names { zone.save(save(name), device: laptop) }
        zone.delete("b", "d")
        zone.save(save("f"), device: laptop)
        var token: [UInt8] = []
        var seen: [String] = []
        for step in 0..<10 {
            let query = try ZonePageQuery.make(
                key: zone.key, token: token, limit: 1, device: phone, reader: nil, store: store, limits: Limits()
            ).get()
            let page = try page(zone, query).get()
            seen += page.entries.map { $0.isDeleted ? "-\($0.name)" : $0.name }
            token = page.token.bytes
            if step == 0 { zone.delete("a", "e") }
            if !page.moreComing { break }
        }
        #expect(seen == ["a", "c", "f", "-a", "-e"])
        zone.save(save("b"), device: laptop)
        zone.delete("b", "c")
        let later = try ZonePageQuery.make(
            key: zone.key, token: token, limit: 0, device: phone, reader: nil, store: store, limits: Limits()
        ).get()
        #expect(try page(zone, later).get().entries.map(\.name) == ["b", "c"])
    }

    @Test func `R-732: a read that passed over too many tombstones makes a page that ends there, with more coming`()
        throws
    {
        var zone = TestZone()
        let names = (0..<8).map { "gone \($0)" }
        for name in names { zone.save(save(name), device: laptop) }
        for name in names { zone.delete(name) }
        zone.save(save("kept"), device: laptop)
        let query = query(zone, after: nil, records: 2, passed: 3)
        let read = zone.read(query, passes: true)
        #expect(read.records.isEmpty && read.hasMore && read.passedTo == 14)
        let page = try ZonePage.make(of: read, for: query, store: store).get()
        guard case .zone(_, _, _, _, let position) = page.token else { return }
        #expect(page.entries.isEmpty && page.moreComing)
        #expect(position == .init(zone: ZoneID(70), number: 14, begunAt: 17))
        let next = ZonePageQuery(
            key: zone.key, after: position, recordsMax: 2, bytesMax: 1_000, device: phone, reader: nil,
            tombstonesPassedMax: 3)
        let last = try ZonePage.make(of: zone.read(next, passes: true), for: next, store: store).get()
        #expect(last.entries.map(\.name) == ["kept"] && !last.moreComing && number(last) == 17)
        // Who is told of deletions passes over none.
        let told = self.query(zone, after: nil, records: 2, tellsEnds: true, passed: 0)
        #expect(zone.read(told, passes: true).records.map(\.name) == ["gone 0", "gone 1", "gone 2"])
    }

    @Test func `R-732, I-3: a batch that a read broke off is left to the next page, which begins with it`() throws {
        var zone = TestZone()
        for name in ["x", "y", "z"] { zone.save(save(name), device: laptop) }
        zone.delete("x", "y", "z")
        zone.save(save("a"), save("b"), save("c"), atomic: true, device: laptop)
        zone.save(save("d"), device: laptop)
        // Five are looked at: three tombstones, "a" and "b".
        let first = query(zone, after: nil, records: 3, passed: 1)
        let page = try ZonePage.make(of: zone.read(first, passes: true), for: first, store: store).get()
        #expect(page.entries.isEmpty && page.moreComing && number(page) == 6)
        let second = query(zone, after: 6, records: 3, passed: 1)
        let next = try ZonePage.make(of: zone.read(second, passes: true), for: second, store: store).get()
        #expect(next.entries.map(\.name) == ["a", "b", "c"] && next.moreComing && number(next) == 9)
        // Where the page begins with the batch, the batch is split rather than kept back.
        var read = zone.read(second, passes: true)
        read.records.removeLast(2)
        (read.hasMore, read.passedTo) = (true, 8)
        let split = try ZonePage.make(of: read, for: second, store: store).get()
        #expect(split.entries.map(\.name) == ["a", "b"] && split.moreComing && number(split) == 8)
    }

    @Test func `R-220, R-221, R-036: tokens that are ahead, too old or of another incarnation are expired`() {
        var zone = TestZone()
        zone.save(save("a"), save("b"), save("c"))
        zone.zone?.oldestTokenNumber = 2
        for (after, isExpired) in [(0, true), (1, true), (2, false), (3, false), (4, true)] as [(ChangeNumber, Bool)] {
            #expect((page(zone, query(zone, after: after)) == .failure(.tokenExpired)) == isExpired)
        }
        #expect((try? page(zone, query(zone, after: nil)).get()) != nil)
        let old = ZonePageQuery(
            key: zone.key, after: .init(zone: ZoneID(69), number: 2), recordsMax: 9, bytesMax: 9, device: phone,
            reader: nil, tombstonesPassedMax: 0)
        #expect(page(zone, old) == .failure(.tokenExpired))
        // A store whose numbers are not what they should be is no reason to trap.
        zone.zone?.oldestTokenNumber = 99
        #expect(page(zone, query(zone, after: 3)) == .failure(.tokenExpired))
    }

    @Test func `R-221: a first fetch goes on where deletions from before it are forgotten, and only those`() throws {
        var zone = TestZone()
        zone.save(save("a"), save("b"), save("c"), device: laptop)
        // A tombstone was at 4, and is forgotten.
        zone.zone?.changeNumber = 4
        zone.zone?.oldestTokenNumber = 4
        let first = try page(zone, query(zone, after: nil, records: 2)).get()
        guard case .zone(_, _, _, _, let position) = first.token else { return }
        #expect(first.moreComing && position == .init(zone: ZoneID(70), number: 2, begunAt: 4))
        let next = ZonePageQuery(
            key: zone.key, after: position, recordsMax: 2, bytesMax: 1_000, device: phone, reader: nil,
            tombstonesPassedMax: 0)
        let last = try page(zone, next).get()
        #expect(last.entries.map(\.name) == ["c"] && !last.moreComing && number(last) == 4)
        // One that was made during the fetch is forgotten too.
        zone.zone?.changeNumber = 5
        zone.zone?.oldestTokenNumber = 5
        #expect(page(zone, next) == .failure(.tokenExpired))
    }

    @Test func `R-029, R-106, R-107, R-202: zones that are missing or have no feed`() {
        for (removal, reason) in [
            (nil, .zoneNotFound), (.purged, .zonePurged), (.encryptedDataReset, .zoneKeysReset),
        ] as [(ZoneRemovalReason?, FailureReason)] {
            let zone = TestZone(exists: false, lastRemoval: removal)
            #expect(page(zone, query(zone)) == .failure(reason))
        }
        let zone = TestZone(name: ZoneName.default)
        #expect(page(zone, query(zone)) == .failure(.feedUnavailable))
        func made(_ name: String, _ token: [UInt8] = []) -> FailureReason? {
            let key = ZoneKey(database: database, name: name)
            let query = ZonePageQuery.make(
                key: key, token: token, limit: 0, device: phone, reader: nil, store: store, limits: Limits())
            if case .failure(let reason) = query { return reason } else { return nil }
        }
        #expect(made(ZoneName.default) == .feedUnavailable && made("_x") == .zoneNameInvalid)
        #expect(made("Notes", [1]) == .tokenInvalid && made("Notes") == nil)
    }

    @Test func `R-202: the default zone has a feed where its container says so, which is beyond CloudKit`() throws {
        var zone = TestZone(name: ZoneName.default)
        zone.save(save("a"), save("b"))
        let page = try page(zone, query(zone, feedsEverywhere: true)).get()
        #expect(page.entries.map(\.name) == ["a", "b"] && !page.moreComing)
        let made = ZonePageQuery.make(
            key: zone.key, token: page.token.bytes, limit: 0, device: phone, reader: nil, feedsEverywhere: true,
            store: store, limits: Limits())
        #expect(try made.get().after?.number == 2)
        #expect(self.page(zone, query(zone)) == .failure(.feedUnavailable))
    }

    @Test func `I-5: a feed tells nobody of what they may not read, nor that it is gone`() throws {
        let grants = ["Mine": Grants([.authenticated: .create, .creator: .write]), "Secret": Grants([:])]
        var zone = TestZone(name: ZoneName.default)
        zone.save(save("a"), save("s", type: "Secret"))
        zone.save(save("m1", type: "Mine"), save("m2", type: "Mine"), user: alice)
        zone.save(save("m3", type: "Mine"), user: bob)
        zone.save(save("b"))
        zone.delete("m2")
        func walk(_ user: UserID?, records: Int) throws -> (names: [String], pages: Int) {
            let reader = RecordAccess(scope: .public, user: user, grants: grants)
            var (names, pages): ([String], Int) = ([], 0)
            var after: ChangeNumber? = 0
            while let start = after {
                let page = try page(
                    zone, query(zone, after: start, records: records, reader: reader, feedsEverywhere: true),
                    extra: 2
                ).get()
                names += page.entries.map { $0.isDeleted ? "-" + $0.name : $0.name }
                pages += 1
                #expect(try #require(number(page)) >= start)
                after = page.moreComing ? number(page) : nil
            }
            return (names, pages)
        }
        for (user, expected) in [
            (nil, ["a", "b"]), (alice, ["a", "m1", "b", "-m2"]), (bob, ["a", "m3", "b"]),
        ] as [(UserID?, [String])] {
            for records in [1, 2, 100] { #expect(try walk(user, records: records).names == expected) }
        }
        // A page of what nobody may read is empty, and says where to go on.
        let blind = RecordAccess(scope: .public, user: nil, grants: ["Item": Grants([:])].merging(grants) { $1 })
        let empty = try page(zone, query(zone, records: 1, reader: blind, feedsEverywhere: true)).get()
        #expect(empty.entries.isEmpty && number(empty) ?? 0 > 0)
    }

    @Test func `I-2: a store that shows nothing and claims more is not believed`() {
        let zone = TestZone()
        let read = ZonePageRead(zone: zone.zone, lastRemoval: nil, records: [], hasMore: true)
        #expect(ZonePage.make(of: read, for: query(zone), store: store) == .failure(.serverFault))
        var stuck = read
        stuck.passedTo = 0
        #expect(ZonePage.make(of: stuck, for: query(zone), store: store) == .failure(.serverFault))
    }
}
