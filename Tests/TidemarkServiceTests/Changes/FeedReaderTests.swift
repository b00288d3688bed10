// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkFairness
import TidemarkScheduling
import TidemarkService
import TidemarkTestKit
import TidemarkTestSupport

@Suite struct FeedReaderTests {
    private let device = DeviceID(high: 2, low: 2)

    @Test func `R-703: zones that moved are told of without numbers; many of them, and ends, are numbered`() throws {
        let names = (0..<FeedPosition.aheadMax + 1).map { "z\($0)" }
        let fixture = try ServiceFixture(zones: names)
        let script = FaultScript()
        let service = fixture.server(faults: script.plan)
        try fixture.scheduler.simulate {
            let viewer = fixture.key().database
            func page(after token: [UInt8], max: Int = 0) async throws -> DatabasePage {
                try await service.databaseChanges(of: viewer, token: token, zonesMax: max).get()
            }
            let first = try await page(after: [])
            #expect(Set(first.changed.map(\.key.name)) == Set(names))
            #expect(script.count(.advanceSent) == 1, "too many for a token")
            let second = try await page(after: first.token.bytes)
            #expect(second.changed.isEmpty && second.token == first.token)
            var last = second
            for round in 1...3 as ClosedRange<UInt64> {
                let saved = try fixture.saving(["r"], zone: "z1", text: "\(round)", id: RequestID(device, round))
                _ = try await service.modify(saved).get()
                let next = try await page(after: last.token.bytes)
                #expect(next.changed.map(\.key.name) == ["z1"] && next.token != last.token)
                #expect(try await page(after: next.token.bytes).changed.isEmpty, "told once")
                #expect(try await page(after: second.token.bytes).changed.map(\.key.name) == ["z1"])
                last = next
            }
            #expect(script.count(.advanceSent) == 1, "nothing was numbered")
            let deletion = ZonesRequest(id: RequestID(device, 4), saves: [], deletes: ["z2"])
            _ = await service.modifyZones(in: viewer, deletion, for: .account(1))
            let ended = try await page(after: last.token.bytes)
            #expect(ended.ended.map(\.key.name) == ["z2"] && ended.changed.isEmpty)
            #expect(script.count(.advanceSent) == 2)
            // Two zones and room for one.
            for (counter, zone) in [(5, "z3"), (6, "z4")] as [(UInt64, String)] {
                let saved = try fixture.saving(["r"], zone: zone, text: "x", id: RequestID(device, counter))
                _ = try await service.modify(saved).get()
            }
            let cut = try await page(after: ended.token.bytes, max: 1)
            let rest = try await page(after: cut.token.bytes, max: 1)
            #expect((cut.changed + rest.changed).map(\.key.name) == ["z3", "z4"])
            #expect(cut.moreComing && !rest.moreComing && script.count(.advanceSent) == 3)
        }
    }

    @Test func `a zone's page that is wanted comes with the feed; if it cannot, the feed comes alone`() throws {
        let fixture = try ServiceFixture(zones: ["notes", "other"])
        let service = fixture.server()
        try fixture.scheduler.simulate {
            let viewer = fixture.key().database
            let saved = try fixture.saving(["a"], text: "x", id: RequestID(device, 1))
            _ = try await service.modify(saved).get()
            func ask(_ zone: String, feed: [UInt8] = [], token: [UInt8] = []) async throws -> DatabasePageAndZone {
                let question = ZoneQuestion(
                    key: ZoneKey(database: viewer, name: zone), token: token, recordsMax: 0,
                    device: DeviceID(high: 3, low: 3), reader: nil)
                return try await service.databaseChanges(
                    of: viewer, token: feed, zonesMax: 0, tellsEnds: false, then: question
                ).get()
            }
            let first = try await ask("notes")
            let alone = try await service.zoneChanges(of: fixture, token: []).get()
            #expect(first.zonePage?.entries.map(\.name) == ["a"] && first.zonePage?.token == alone.token)
            #expect(first.page.changed.map(\.key.name) == ["notes", "other"])
            let next = try await ask("notes", feed: first.page.token.bytes, token: alone.token.bytes)
            #expect(next.page.changed.isEmpty && next.zonePage?.entries.isEmpty == true)
            for (zone, token) in [("none", []), (ZoneName.default, []), ("other", alone.token.bytes), ("notes", [1])] {
                let answer = try await ask(zone, token: token)
                #expect(answer.zonePage == nil && answer.page == first.page, "\(zone)")
            }
            // In another life of the store each token is told to be expired for itself.
            fixture.database.renewIncarnation()
            let renewed = try await ask("notes", token: alone.token.bytes)
            #expect(renewed.zonePage == nil && renewed.page.changed.count == 2)
            let fresh = try await ask("notes", feed: renewed.page.token.bytes)
            #expect(fresh.zonePage?.token.store == renewed.page.token.store)
        }
    }

    @Test func `R-730: a page that is read before a client asks for it is cut at a moderate size`() throws {
        let fixture = try ServiceFixture()
        let service = fixture.server()
        try fixture.scheduler.simulate {
            let small = try fixture.saving((0..<5).map { "small\($0)" }, text: "x", id: RequestID(device, 1))
            _ = try await service.modify(small).get()
            let text = String(repeating: "x", count: 300_000)
            let large = try fixture.saving((0..<5).map { "large\($0)" }, text: text, id: RequestID(device, 2))
            _ = try await service.modify(large).get()
            func page(after token: [UInt8]) async throws -> ZonePage {
                try await service.zoneChanges(
                    in: fixture.key(), token: token, recordsMax: 4, device: DeviceID(high: 3, low: 3), reader: nil
                ).get()
            }
            var names: [String] = []
            var counts: [Int] = []
            var token: [UInt8] = []
            while names.count < 10 {
                let next = try await page(after: token)
                counts.append(next.entries.count)
                names += next.entries.map(\.name)
                token = next.token.bytes
            }
            #expect(Set(names).count == 10)
            // The second was read ahead, and the third was not, because the second is large.
            #expect(counts == [4, 2, 4], "\(counts)")
        }
    }

    @Test func `I-7: a zone's page that comes with the feed is cut at a moderate size`() throws {
        let fixture = try ServiceFixture()
        let service = fixture.server()
        try fixture.scheduler.simulate {
            let viewer = fixture.key().database
            let text = String(repeating: "x", count: 30_000)
            let saved = try fixture.saving(["a", "b", "c", "d"], text: text, id: RequestID(device, 1))
            _ = try await service.modify(saved).get()
            let question = ZoneQuestion(
                key: fixture.key(), token: [], recordsMax: 0, device: DeviceID(high: 3, low: 3), reader: nil)
            let answer = try await service.databaseChanges(
                of: viewer, token: [], zonesMax: 0, tellsEnds: false, then: question
            ).get()
            let page = try #require(answer.zonePage)
            #expect(page.entries.map(\.name) == ["a", "b"] && page.moreComing)
            #expect(try await service.zoneChanges(of: fixture, token: page.token.bytes).get().entries.count == 2)
        }
    }

    @Test func `I-2: the feed is told only after its numbers are durable`() throws {
        let fixture = try ServiceFixture(zones: (0..<FeedPosition.aheadMax + 1).map { "z\($0)" })
        let script = FaultScript(always: [.advanceSent: .disconnect])
        let service = fixture.server(faults: script.plan)
        try fixture.scheduler.simulate {
            let page = await service.databaseChanges(of: fixture.key().database, token: [], zonesMax: 0)
            #expect(page == .failure(.storeUnavailable))
        }
    }

    @Test func `R-220: after the store began another life, tokens are expired`() throws {
        let fixture = try ServiceFixture()
        let service = fixture.server()
        try fixture.scheduler.simulate {
            let viewer = fixture.key().database
            let zones = try await service.databaseChanges(of: viewer, token: [], zonesMax: 0).get().token
            let records = try await service.zoneChanges(of: fixture, token: []).get().token
            fixture.database.renewIncarnation()
            #expect(
                await service.databaseChanges(of: viewer, token: zones.bytes, zonesMax: 0) == .failure(.tokenExpired))
            #expect(await service.zoneChanges(of: fixture, token: records.bytes) == .failure(.tokenExpired))
        }
    }

    @Test func `R-200: a token of one feed is no token of the other`() throws {
        let fixture = try ServiceFixture()
        let service = fixture.server()
        try fixture.scheduler.simulate {
            let viewer = fixture.key().database
            let zones = try await service.databaseChanges(of: viewer, token: [], zonesMax: 0).get().token
            let records = try await service.zoneChanges(of: fixture, token: []).get().token
            #expect(await service.zoneChanges(of: fixture, token: zones.bytes) == .failure(.tokenInvalid))
            #expect(
                await service.databaseChanges(of: viewer, token: records.bytes, zonesMax: 0) == .failure(.tokenInvalid))
            #expect(await service.zoneChanges(of: fixture, token: [1, 2, 3]) == .failure(.tokenInvalid))
        }
    }

    @Test func `R-189, R-200: who reads another's zone has tokens and cursors of their own`() throws {
        let fixture = try ServiceFixture()
        let service = fixture.server()
        try fixture.scheduler.simulate {
            let saved = try fixture.saving(["a", "b", "c"], id: RequestID(device, 1))
            _ = try await service.modify(saved).get()
            var readers = [RecordAccess.owner(fixture.identity.user)]
            try await fixture.share(counter: 1, by: service)
            for name in ["bob", "carol"] {
                let user = try await fixture.user(name, by: service)
                try await fixture.accept(user, by: service)
                readers.append(user.sharedAccess)
            }
            func page(by reader: RecordAccess, after token: [UInt8]) async -> Result<ZonePage, FailureReason> {
                await service.zoneChanges(
                    in: fixture.key(), token: token, recordsMax: 0, device: device, reader: reader.unlessOwner)
            }
            for maker in readers {
                let token = try await page(by: maker, after: []).get().token.bytes
                for reader in readers {
                    let answer = await page(by: reader, after: token)
                    if reader == maker {
                        #expect(try answer.get().token.bytes == token)
                    } else {
                        #expect(answer == .failure(.tokenInvalid))
                    }
                }
            }
            func matches(by reader: RecordAccess, after cursor: [UInt8]) async -> Result<QueryPage, QueryRefusal> {
                await service.queryRecords(
                    Query(recordType: "Note", zoneName: "notes"), in: fixture.key().database,
                    of: fixture.identity.container, by: reader, cursor: cursor, recordsMax: 2,
                    for: WorkTurn(of: .nobody))
            }
            let first = try await matches(by: readers[0], after: []).get()
            let cursor = try #require(first.cursor)
            #expect(try await matches(by: readers[0], after: cursor.bytes).get().matches.count == 1)
            for (maker, reader) in [
                (nil, readers[1]), (readers[1].user, readers[0]), (readers[1].user, readers[2]),
            ] as [(UserID?, RecordAccess)] {
                let foreign = QueryCursor(
                    store: cursor.store, database: cursor.database, viewer: maker,
                    query: Query(recordType: "Note", zoneName: "notes"), position: cursor.position)
                #expect(await matches(by: reader, after: foreign.bytes) == .failure(QueryRefusal(.cursorInvalid)))
            }
        }
    }

    @Test func `R-207: a zone that was deleted and created again is both, ended and changed`() throws {
        let fixture = try ServiceFixture()
        let service = fixture.server()
        try fixture.scheduler.simulate {
            let viewer = fixture.key().database
            let before = try await service.databaseChanges(of: viewer, token: [], zonesMax: 0).get()
            let token = try await service.zoneChanges(of: fixture, token: []).get().token
            for (counter, request) in [(1, ([], ["notes"])), (2, (["notes"], []))] as [(UInt64, ([String], [String]))] {
                _ = await service.modifyZones(
                    in: viewer, ZonesRequest(id: RequestID(device, counter), saves: request.0, deletes: request.1),
                    for: .account(1))
            }
            let page = try await service.databaseChanges(of: viewer, token: before.token.bytes, zonesMax: 0).get()
            #expect(page.ended.map(\.removal) == [.deleted])
            #expect(page.changed.map(\.key.name) == ["notes"])
            #expect(await service.zoneChanges(of: fixture, token: token.bytes) == .failure(.tokenExpired))
        }
    }

    @Test func `I-3: a page that was read ahead counts only if there is more, and nothing is missed`() throws {
        let fixture = try ServiceFixture()
        let service = fixture.server()
        try fixture.scheduler.simulate {
            var counter: UInt64 = 0
            func save(_ names: [String], _ text: String) async throws {
                counter += 1
                let request = try fixture.saving(names, text: text, id: RequestID(device, counter))
                _ = try await service.modify(request).get()
            }
            func page(after token: [UInt8]) async throws -> ZonePage {
                try await service.zoneChanges(
                    in: fixture.key(), token: token, recordsMax: 2, device: DeviceID(high: 3, low: 3), reader: nil
                ).get()
            }
            try await save(["a", "b", "c", "d", "e", "f"], "old")
            let first = try await page(after: [])
            try await fixture.scheduler.sleep(for: .milliseconds(100))
            // The second page has been read. What changes now comes later.
            try await save(["d"], "new")
            let second = try await page(after: first.token.bytes)
            #expect(second.entries.map(\.name) == ["c", "d"] && second.moreComing)
            try await fixture.scheduler.sleep(for: .milliseconds(100))
            // The third would have been the last but one; now it is read anew, or there is a fourth.
            try await save(["g"], "new")
            var names: [String] = []
            var token = second.token.bytes
            while true {
                let page = try await page(after: token)
                names += page.entries.map(\.name)
                token = page.token.bytes
                if !page.moreComing { break }
            }
            #expect(names == ["e", "f", "d", "g"])
            // A page that was read so long ago that the client must have thought better of it is forgotten.
            let again = try await page(after: [])
            try await fixture.scheduler.sleep(for: .seconds(3))
            try await save(["c"], "newest")
            #expect(try await page(after: again.token.bytes).entries.map(\.name) == ["e", "f"])
        }
    }

    @Test(arguments: [[2], [1, 1]])
    func `I-3: a page that was read ahead for an earlier fetch is not used by a later one`(_ sizes: [Int]) throws {
        let fixture = try ServiceFixture()
        let service = fixture.server()
        try fixture.scheduler.simulate {
            var counter: UInt64 = 0
            func save(_ names: [String], _ text: String) async throws {
                counter += 1
                let request = try fixture.saving(names, text: text, id: RequestID(device, counter))
                _ = try await service.modify(request).get()
            }
            func page(after token: [UInt8], _ size: Int = 2) async throws -> ZonePage {
                try await service.zoneChanges(
                    in: fixture.key(), token: token, recordsMax: size, device: DeviceID(high: 3, low: 3), reader: nil
                ).get()
            }
            try await save(["z"], "old")
            let begin = try await page(after: [])
            try await save(["a", "b", "c", "d", "e", "f"], "old")
            let first = try await page(after: begin.token.bytes)
            // The second page has been read when it changes, and the device begins anew.
            try await fixture.scheduler.sleep(for: .milliseconds(100))
            let feed = try await service.databaseChanges(of: fixture.key().database, token: [], zonesMax: 0).get()
            try await save(["c", "d"], "new")
            var again = begin
            for size in sizes { again = try await page(after: again.token.bytes, size) }
            #expect(again.token == first.token)
            let next = try await page(after: again.token.bytes)
            #expect(next.entries.map(\.name) == ["e", "f"])
            // The database's feed was read before the change, so it tells of the zone once more.
            let news = try await service.databaseChanges(
                of: fixture.key().database, token: feed.token.bytes, zonesMax: 0
            ).get()
            #expect(news.changed.map(\.key.name) == ["notes"])
            let last = try await page(after: next.token.bytes)
            #expect(last.entries.map(\.name) == ["c", "d"] && !last.moreComing)
        }
    }

    @Test func `I-3: a page read ahead for an earlier fetch does not follow one that came with the feed`() throws {
        let fixture = try ServiceFixture()
        let service = fixture.server()
        try fixture.scheduler.simulate {
            let reader = DeviceID(high: 3, low: 3)
            var counter: UInt64 = 0
            func save(_ names: [String], _ text: String) async throws {
                counter += 1
                let request = try fixture.saving(names, text: text, id: RequestID(device, counter))
                _ = try await service.modify(request).get()
            }
            func page(after token: [UInt8]) async throws -> ZonePage {
                try await service.zoneChanges(
                    in: fixture.key(), token: token, recordsMax: 2, device: reader, reader: nil
                ).get()
            }
            try await save(["z"], "old")
            let begin = try await page(after: [])
            try await save(["a", "b", "c", "d", "e", "f"], "old")
            let first = try await page(after: begin.token.bytes)
            // The second page has been read when it changes, and the device begins anew.
            try await fixture.scheduler.sleep(for: .milliseconds(100))
            let feed = try await service.databaseChanges(of: fixture.key().database, token: [], zonesMax: 0).get()
            try await save(["c", "d"], "new")
            let question = ZoneQuestion(
                key: fixture.key(), token: begin.token.bytes, recordsMax: 2, device: reader, reader: nil)
            let answer = try await service.databaseChanges(
                of: fixture.key().database, token: feed.token.bytes, zonesMax: 0, tellsEnds: false, then: question
            ).get()
            let again = try #require(answer.zonePage)
            #expect(again.token == first.token)
            #expect(try await page(after: again.token.bytes).entries.map(\.name) == ["e", "f"])
        }
    }

    @Test func `I-3: a page that was read ahead for a connection is not used by another one`() throws {
        let fixture = try ServiceFixture()
        let servers = [fixture.server(), fixture.server()]
        try fixture.scheduler.simulate {
            func save(_ names: [String], _ counter: UInt64) async throws {
                let request = try fixture.saving(names, text: "\(counter)", id: RequestID(device, counter))
                _ = try await servers[0].modify(request).get()
            }
            func page(after token: [UInt8], of server: Int, connection: UInt64) async throws -> ZonePage {
                try await servers[server].zoneChanges(
                    in: fixture.key(), token: token, recordsMax: 2, device: DeviceID(high: 3, low: 3),
                    connection: connection, reader: nil
                ).get()
            }
            try await save(["a", "b", "c", "d", "e", "f"], 1)
            let first = try await page(after: [], of: 0, connection: 1)
            // The device changes servers, and what it gets there is newer than what the first one has read ahead.
            try await fixture.scheduler.sleep(for: .milliseconds(100))
            try await save(["c", "d"], 2)
            #expect(try await page(after: [], of: 1, connection: 1).entries == first.entries)
            #expect(
                try await page(after: first.token.bytes, of: 0, connection: 2).entries.map(\.name) == ["e", "f"])
        }
    }

    /// Writers and readers on several servers, with faults: each reader goes from token to token until writers are done,
    /// and then must know the newest state of everything.
    @Test func `I-2, R-700: readers on any server skip nothing, whatever writers do meanwhile`() throws {
        for seed in 0..<150 as Range<UInt64> {
            let zones = ["a", "b", "c"]
            let fixture = try ServiceFixture(seed: seed, zones: zones)
            let servers = (0..<3).map { _ in fixture.server(faults: fixture.randomFaults(oneIn: 12)) }
            let readers = (0..<2).map { _ in FeedFollower(database: fixture.key().database) }
            try fixture.scheduler.simulate {
                let writers = (0..<4).map { writer in
                    fixture.scheduler.runThrowing { try await write(writer, zones, fixture, servers) }
                }
                let reading = readers.enumerated().map { index, reader in
                    fixture.scheduler.run {
                        for round in 0..<8 { await reader.fetch(from: servers[(index + round) % 3]) }
                    }
                }
                for writer in writers { try await writer.value }
                for reader in reading { await reader.value }
                let calm = fixture.server()
                for reader in readers { await reader.fetch(from: calm) }
                for zone in zones {
                    let stored = try await fixture.records(in: zone)
                    for reader in readers {
                        #expect(reader.records(in: zone) == stored.byName, "seed \(seed), zone \(zone)")
                    }
                }
            }
        }
    }

    private func write(
        _ writer: Int, _ zones: [String], _ fixture: ServiceFixture, _ servers: [CloudService]
    ) async throws {
        let device = DeviceID(high: 10, low: UInt64(writer))
        for counter in 1...10 as ClosedRange<UInt64> {
            let dice = fixture.scheduler.randomBits()
            let names = ["r\(dice % 5)", "s\(dice >> 8 % 5)"]
            let request = try fixture.saving(
                dice & 1 << 20 == 0 ? names : [], deleting: dice & 1 << 20 == 0 ? [] : names,
                zone: zones[Int(dice >> 32 % 3)],
                text: "\(writer) \(counter)", id: RequestID(device, counter), isAtomic: true)
            _ = await servers[Int(dice >> 40 % 3)].modify(request)
        }
    }
}

extension CloudService {
    func zoneChanges(of fixture: ServiceFixture, token: [UInt8]) async -> Result<ZonePage, FailureReason> {
        await zoneChanges(
            in: fixture.key(), token: token, recordsMax: 0, device: DeviceID(high: 2, low: 2), reader: nil)
    }
}

extension [RecordState] {
    /// Those that live.
    var byName: [String: RecordState] {
        Dictionary(filter { !$0.isDeleted }.map { ($0.name, $0) }) { $1 }
    }
}
