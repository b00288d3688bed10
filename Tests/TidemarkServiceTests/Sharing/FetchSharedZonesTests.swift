// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkFairness
import TidemarkFields
import TidemarkScheduling
import TidemarkService
import TidemarkTestKit
import TidemarkTestSupport

/// What participants get, and what those get who take no part any more.
@Suite struct FetchSharedZonesTests {
    private let device = DeviceID(high: 0, low: 2)

    @Test func `F-25, R-328, I-5: a page that was read ahead is not given to who lost access since`() throws {
        let fixture = try ServiceFixture()
        let service = fixture.server()
        try fixture.scheduler.simulate {
            let bob = try await fixture.user("bob", by: service)
            _ = try await service.modify(
                fixture.saving((1...40).map { "r\($0)" }, id: RequestID(DeviceID(high: 0, low: 1), 1))
            ).get()
            try await fixture.share(counter: 2, by: service)
            try await fixture.accept(bob, by: service)
            func page(after token: [UInt8]) async -> Result<ZonePage, FailureReason> {
                await service.zoneChanges(
                    in: fixture.key(), token: token, recordsMax: 5, device: device, reader: bob.sharedAccess)
            }
            let first = try await page(after: []).get()
            let second = try await page(after: first.token.bytes).get()
            #expect(second.entries.count == 5 && second.moreComing)
            // The next two pages are read by now.
            for _ in 1...20 { await fixture.scheduler.pause() }
            _ = await fixture.server().leaveZones([fixture.key()], for: bob.bearer)
            #expect(await page(after: second.token.bytes) == .failure(.zoneNotFound))
            try await fixture.accept(bob, by: service)
            #expect(try await page(after: second.token.bytes).get().entries.map(\.name) == (11...15).map { "r\($0)" })
        }
    }

    @Test func `R-328, I-5: what was made of a page that was read ahead is dropped if access has ended`() throws {
        let fixture = try ServiceFixture()
        let service = fixture.server()
        try fixture.scheduler.simulate {
            let bob = try await fixture.user("bob", by: service)
            _ = try await service.modify(
                fixture.saving((1...20).map { "r\($0)" }, id: RequestID(DeviceID(high: 0, low: 1), 1))
            ).get()
            try await fixture.share(counter: 2, by: service)
            try await fixture.accept(bob, by: service)
            let made = Log<String>()
            func names(after token: [UInt8], by reader: RecordAccess?) async -> Result<[String], FailureReason> {
                let question = ZoneQuestion(
                    key: fixture.key(), token: token, recordsMax: 5, device: device, reader: reader)
                return await service.zoneChanges(question, for: .nobody, on: nil) { page in
                    let names = page.entries.map(\.name)
                    made.append(names[0])
                    return names
                }
            }
            func token(by reader: RecordAccess?) async throws -> [UInt8] {
                try await service.zoneChanges(
                    in: fixture.key(), token: [], recordsMax: 5, device: device, reader: reader
                ).get().token.bytes
            }
            let readers = [bob.sharedAccess, nil]
            for reader in readers {
                let found = await names(after: try await token(by: reader), by: reader)
                #expect(try found.get() == (6...10).map { "r\($0)" })
            }
            #expect(made.all == ["r6", "r6"], "once for each")
            let bobs = try await token(by: bob.sharedAccess)
            for _ in 1...20 { await fixture.scheduler.pause() }
            _ = await fixture.server().leaveZones([fixture.key()], for: bob.bearer)
            #expect(await names(after: bobs, by: bob.sharedAccess) == .failure(.zoneNotFound))
            #expect(made.all == ["r6", "r6", "r6"], "while the access was read")
        }
    }

    @Test func `R-328, I-5: access is read after a page that was read ahead, also if that page is late`() throws {
        let fixture = try ServiceFixture()
        let script = FaultScript()
        let service = fixture.server(faults: script.plan)
        try fixture.scheduler.simulate {
            let bob = try await fixture.user("bob", by: service)
            _ = try await service.modify(
                fixture.saving((1...20).map { "r\($0)" }, id: RequestID(DeviceID(high: 0, low: 1), 1))
            ).get()
            try await fixture.share(counter: 2, by: service)
            try await fixture.accept(bob, by: service)
            let (device, key) = (self.device, fixture.key())
            @Sendable func page(after token: [UInt8]) async -> Result<ZonePage, FailureReason> {
                await service.zoneChanges(
                    in: key, token: token, recordsMax: 5, device: device, reader: bob.sharedAccess)
            }
            // The first page comes at once, and the second, which is read ahead, a second later.
            script.meet([.none, .delay(.seconds(1))], at: .callSent)
            let first = try await page(after: []).get()
            let asked = fixture.scheduler.run { await page(after: first.token.bytes) }
            try await fixture.scheduler.sleep(for: .milliseconds(100))
            _ = await fixture.server().leaveZones([key], for: bob.bearer)
            #expect(await asked.value == .failure(.zoneNotFound))
        }
    }

    @Test func `R-328, I-5: a page of a zone of others comes with the list, by the access of that moment`() throws {
        let fixture = try ServiceFixture()
        let service = fixture.server()
        try fixture.scheduler.simulate {
            let (bob, carol) = (
                try await fixture.user("bob", by: service), try await fixture.user("carol", by: service)
            )
            _ = try await service.modify(
                fixture.saving(["a"], id: RequestID(DeviceID(high: 0, low: 1), 1))
            ).get()
            try await fixture.share(counter: 2, by: service)
            func ask(
                _ user: Identity, feed: [UInt8] = [], token: [UInt8] = []
            ) async throws -> DatabasePageAndZone {
                let question = ZoneQuestion(
                    key: fixture.key(), token: token, recordsMax: 0, device: device, reader: user.sharedAccess)
                return try await service.databaseChanges(
                    of: user.sharedDatabase, token: feed, zonesMax: 0, tellsEnds: false, then: question
                ).get()
            }
            let stranger = try await ask(bob)
            #expect(stranger.page.changed.isEmpty && stranger.zonePage == nil)
            for user in [bob, carol] { try await fixture.accept(user, by: service) }
            // The first time the list gives the zone a number. That is another transaction, and no page comes along.
            let listed = try await ask(bob)
            #expect(listed.page.changed.map(\.key) == [fixture.key()] && listed.zonePage == nil)
            let feed = listed.page.token.bytes
            let alone = try await service.zoneChanges(
                in: fixture.key(), token: [], recordsMax: 0, device: device, reader: bob.sharedAccess
            ).get()
            let together = try await ask(bob, feed: feed)
            #expect(together.page.changed.isEmpty && together.zonePage == alone)
            // Tokens are each one's own.
            #expect(try await ask(bob, feed: feed, token: alone.token.bytes).zonePage?.entries.isEmpty == true)
            let carols = try await ask(carol).page.token.bytes
            #expect(try await ask(carol, feed: carols).zonePage?.entries == alone.entries)
            #expect(try await ask(carol, feed: carols, token: alone.token.bytes).zonePage == nil)

            _ = await fixture.server().leaveZones([fixture.key()], for: bob.bearer)
            for token in [[], alone.token.bytes] {
                let ended = try await ask(bob, feed: feed, token: token)
                #expect(ended.zonePage == nil && ended.page.ended.map(\.key) == [fixture.key()])
            }
            #expect(try await ask(carol, feed: carols).zonePage != nil)
        }
    }

    @Test func `I-7: a page of a zone of others that comes with the list is cut at a moderate size`() throws {
        let fixture = try ServiceFixture()
        let service = fixture.server()
        try fixture.scheduler.simulate {
            let bob = try await fixture.user("bob", by: service)
            let text = String(repeating: "x", count: 30_000)
            _ = try await service.modify(
                fixture.saving(["a", "b", "c", "d"], text: text, id: RequestID(DeviceID(high: 0, low: 1), 1))
            ).get()
            try await fixture.share(counter: 2, by: service)
            try await fixture.accept(bob, by: service)
            let feed = try await service.databaseChanges(of: bob.sharedDatabase, token: [], zonesMax: 0).get().token
            let answer = try await service.databaseChanges(
                of: bob.sharedDatabase, token: feed.bytes, zonesMax: 0, tellsEnds: false,
                then: ZoneQuestion(
                    key: fixture.key(), token: [], recordsMax: 0, device: device, reader: bob.sharedAccess)
            ).get()
            let page = try #require(answer.zonePage)
            #expect(page.entries.map(\.name) == ["a", "b"] && page.moreComing)
            let rest = try await service.zoneChanges(
                in: fixture.key(), token: page.token.bytes, recordsMax: 0, device: device, reader: bob.sharedAccess
            ).get()
            #expect(rest.entries.map(\.name) == ["c", "d", Share.zoneWideName] && !rest.moreComing)
        }
    }

    @Test func `R-225, I-5: zones of others are read together, and those without access are not there`() throws {
        let fixture = try ServiceFixture(zones: ["a", "b", "c"])
        let script = FaultScript()
        let service = fixture.server(faults: script.plan)
        try fixture.scheduler.simulate {
            let bob = try await fixture.user("bob", by: service)
            for (zone, counter) in [("a", 1), ("b", 2), ("c", 3)] as [(String, UInt64)] {
                try await fixture.share(zone: zone, counter: counter, by: service)
                if zone != "b" { try await fixture.accept(bob, zone: zone, by: service) }
            }
            let before = script.count(.callSent)
            let keys = ["a", "b", "c", "none", "a"].map { fixture.key($0) }
            let zones = try await service.sharedZones(keys, for: bob.user).get()
            #expect(zones.map(\.reason) == [nil, .zoneNotFound, nil, .zoneNotFound, nil])
            #expect(script.count(.callSent) == before + 1)
        }
    }

    @Test func `F-25, R-189, I-5: the next page of a query is not for who lost access since`() throws {
        let fixture = try ServiceFixture()
        let service = fixture.server()
        try fixture.scheduler.simulate {
            let bob = try await fixture.user("bob", by: service)
            _ = try await service.modify(
                fixture.saving(["a", "b", "c"], id: RequestID(DeviceID(high: 0, low: 1), 1))
            ).get()
            try await fixture.share(counter: 2, by: service)
            try await fixture.accept(bob, by: service)
            func matches(after cursor: [UInt8]) async -> Result<QueryPage, QueryRefusal> {
                await service.queryRecords(
                    Query(recordType: "Note", zoneName: "notes"), in: fixture.key().database,
                    of: fixture.identity.container, by: bob.sharedAccess, cursor: cursor, recordsMax: 2,
                    for: WorkTurn(of: .nobody))
            }
            let page = try await matches(after: []).get()
            #expect(page.matches.map(\.record.name) == ["a", "b"])
            let cursor = try #require(page.cursor).bytes
            _ = await service.leaveZones([fixture.key()], for: bob.bearer)
            for token in [[], cursor] {
                #expect(await matches(after: token) == .failure(QueryRefusal(.zoneNotFound)))
            }
        }
    }

    @Test func `R-173, R-174, R-191: queries find CKShare records in private and in shared databases`() throws {
        let fixture = try ServiceFixture(zones: ["notes", "lists"])
        let service = fixture.server()
        try fixture.scheduler.simulate {
            let (bob, carol) = (
                try await fixture.user("bob", by: service), try await fixture.user("carol", by: service)
            )
            try await fixture.share(counter: 1, by: service)
            try await fixture.share(zone: "lists", counter: 2, by: service)
            try await fixture.accept(bob, by: service)
            func zones(_ zone: String?, by access: RecordAccess) async -> Result<[String], QueryRefusal> {
                await service.queryRecords(
                    Query(recordType: Share.recordType, zoneName: zone), in: fixture.key().database,
                    of: fixture.identity.container, by: access, cursor: [], recordsMax: 0,
                    for: WorkTurn(of: .nobody)
                ).map { $0.matches.map(\.zoneName).sorted() }
            }
            let user = fixture.identity.user
            #expect(await zones(nil, by: .owner(user)) == .success(["lists", "notes"]))
            #expect(await zones("lists", by: .owner(user)) == .success(["lists"]))
            #expect(await zones("notes", by: bob.sharedAccess) == .success(["notes"]))
            #expect(await zones("notes", by: carol.sharedAccess) == .failure(QueryRefusal(.zoneNotFound)))
            let unknown = QueryRefusal(.recordTypeUnknown, subject: Share.recordType)
            #expect(await zones(nil, by: RecordAccess(scope: .public, user: user)) == .failure(unknown))
        }
    }

    @Test func `R-034: an owner's list of zones says which are shared`() throws {
        let fixture = try ServiceFixture(zones: ["notes", "lists"])
        let service = fixture.server()
        try fixture.scheduler.simulate {
            try await fixture.share(counter: 1, by: service)
            let database = fixture.identity.privateDatabase
            let zones = try await service.zonesPage(in: database, after: nil).get().zones
            #expect(zones.count == 3)
            #expect(zones.filter(\.isShared).map(\.key) == [fixture.key()])
            let named = try await service.zones([fixture.key("lists"), fixture.key()]).get()
            #expect(try named.map { try $0.get().isShared } == [false, true])
        }
    }

    @Test func `R-323, I-5: only who may write in a zone uploads assets for it`() throws {
        let fixture = try ServiceFixture()
        let service = fixture.server()
        try fixture.scheduler.simulate {
            let (bob, carol) = (
                try await fixture.user("bob", by: service), try await fixture.user("carol", by: service)
            )
            let guests = [bob.invited(.readOnly), carol.invited()]
            try await fixture.share(.noAccess, guests, counter: 1, by: service)
            for user in [bob, carol] { try await fixture.accept(user, by: service) }
            #expect(await service.uploadAccess(to: fixture.key(), by: bob.sharedAccess, for: .account(2)).reason == .notPermitted)
            #expect(await service.uploadAccess(to: fixture.key(), by: carol.sharedAccess, for: .account(2)).reason == nil)
            let none = ZoneKey(database: fixture.key().database, name: "none")
            #expect(await service.uploadAccess(to: none, by: carol.sharedAccess, for: .account(2)).reason == .zoneNotFound)
        }
    }
    @Test func `I-5, R-200: whoever takes no part is not told whether a token is of the zone's database`() throws {
        let fixture = try ServiceFixture()
        let service = fixture.server()
        try fixture.scheduler.simulate {
            let bob = try await fixture.user("bob", by: service)
            try await fixture.share(counter: 1, by: service)
            try await fixture.accept(bob, by: service)
            let reader = bob.sharedAccess
            let token = try await service.zoneChanges(
                in: fixture.key(), token: [], recordsMax: 0, device: device, reader: reader
            ).get().token.bytes
            let damaged = await service.zoneChanges(
                in: fixture.key(), token: [1], recordsMax: 0, device: device, reader: reader)
            #expect(damaged.reason == .tokenInvalid)
            _ = await service.leaveZones([fixture.key()], for: bob.bearer)
            let nobody = ZoneKey(database: DatabaseID(0), name: "notes")
            for key in [fixture.key(), fixture.key("none"), nobody] {
                for bytes in [token, [1]] {
                    let found = await service.zoneChanges(
                        in: key, token: bytes, recordsMax: 0, device: device, reader: reader)
                    #expect(found.reason == .zoneNotFound, "\(key)")
                }
            }
        }
    }

    @Test func `R-323: parts of a file do not wait for a look at a right that was found before`() throws {
        let fixture = try ServiceFixture()
        let script = FaultScript()
        let service = fixture.server(faults: script.plan)
        try fixture.scheduler.simulate {
            let (bob, carol) = (
                try await fixture.user("bob", by: service), try await fixture.user("carol", by: service)
            )
            try await fixture.share(counter: 1, by: service)
            try await fixture.accept(carol, by: service)
            #expect(await service.uploadAccess(to: fixture.key(), by: carol.sharedAccess, for: .account(2)).reason == nil)
            let callCount = script.count(.callSent)
            #expect(await service.partAccess(to: fixture.key(), by: carol.sharedAccess, for: .account(2)).reason == nil)
            #expect(script.count(.callSent) == callCount)
            #expect(await service.partAccess(to: fixture.key(), by: bob.sharedAccess, for: .account(2)).reason == .zoneNotFound)
            _ = await service.leaveZones([fixture.key()], for: carol.bearer)
            try await fixture.scheduler.sleep(for: .seconds(601))
            #expect(await service.partAccess(to: fixture.key(), by: carol.sharedAccess, for: .account(2)).reason == .zoneNotFound)
        }
    }
}
