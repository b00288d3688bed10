// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing
import TidemarkDomain
import TidemarkFields
import TidemarkService
import TidemarkTestKit
import TidemarkTestSupport

/// What pushes bring of a commit, beside what a fetch shows.
@Suite struct FeedReaderNewsTests {
    private let reader = DeviceID(high: 9, low: 9)

    /// Where a device is, by what it fetched or was pushed.
    private struct Place {
        var feed: [UInt8] = []
        var zone: [UInt8] = []
    }

    private func fetch(_ service: CloudService, _ key: ZoneKey, from place: Place) async throws -> DatabasePageAndZone {
        try await service.databaseChanges(
            of: key.database, token: place.feed, zonesMax: 0, tellsEnds: false,
            then: ZoneQuestion(key: key, token: place.zone, recordsMax: 0, device: reader, reader: nil)
        ).get()
    }

    private func pages(
        _ news: ZoneNews, from place: Place, in key: ZoneKey
    ) -> (database: DatabasePage, zone: ZonePage)? {
        guard case .database(_, _, let feed)? = ChangeToken(bytes: place.feed),
            case .zone(_, _, _, _, let zone)? = ChangeToken(bytes: place.zone)
        else { return nil }
        return news.pages(after: feed, in: zone, of: key.database, for: reader)
    }

    @Test func `R-508, I-2: what a push brings is what a fetch from the same place would bring, in random histories`()
        throws
    {
        let brought = Mutex(0)
        for seed in 1...40 as ClosedRange<UInt64> {
            let fixture = try ServiceFixture(seed: seed, zones: ["a", "b"])
            let moved = Mutex<[ZoneNews]>([])
            let service = fixture.server(onMoved: { zones in moved.withLock { $0 += zones.news } })
            try fixture.scheduler.simulate {
                var random = SeededRandom(seed: seed)
                var places: [String: Place] = [:]
                let names = ["a", "b"]
                for counter in 1...30 as ClosedRange<UInt64> {
                    let zone = names[Int.random(in: 0..<2, using: &random)]
                    let count = Int.random(in: 0..<4, using: &random)
                    let records = (0..<count).map { _ in "r\(Int.random(in: 0..<6, using: &random))" }
                    let deletes = Bool.random(using: &random) ? ["r\(Int.random(in: 0..<6, using: &random))"] : []
                    let request = try fixture.saving(
                        Array(Set(records).subtracting(deletes)).sorted(), deleting: deletes, zone: zone,
                        text: "\(counter)", id: RequestID(DeviceID(high: 1, low: counter % 3), counter))
                    // The device is where one of the last fetches or pushes left it, sometimes a commit behind.
                    let place = places[zone] ?? Place()
                    moved.withLock { $0 = [] }
                    _ = await service.modify(request)
                    let key = fixture.key(zone)
                    let told = try await fetch(service, key, from: place)
                    let news = moved.withLock { $0 }.first { $0.before.key == key }
                    if let news, let pages = pages(news, from: place, in: key) {
                        brought.withLock { $0 += 1 }
                        #expect(pages.zone.entries == told.zonePage?.entries, "seed \(seed), commit \(counter)")
                        #expect(pages.zone.token == told.zonePage?.token, "seed \(seed), commit \(counter)")
                        // The fetch may tell of the other zone, too, of which the push leaves the device to ask.
                        #expect(pages.database.changed.map(\.key) == [key])
                        #expect(told.page.changed.map(\.key).contains(key))
                        let after = Place(feed: pages.database.token.bytes, zone: pages.zone.token.bytes)
                        let next = try await fetch(service, key, from: after)
                        #expect(!next.page.changed.map(\.key).contains(key), "told once, seed \(seed)")
                        #expect(
                            Set(next.page.changed.map(\.key)) == Set(told.page.changed.map(\.key)).subtracting([key]))
                        #expect(next.zonePage?.entries == [])
                        places[zone] = after
                    }
                    guard Int.random(in: 0..<3, using: &random) > 0 else { continue }
                    places[zone] = Place(
                        feed: told.page.token.bytes, zone: told.zonePage?.token.bytes ?? [])
                }
            }
        }
        let count = brought.withLock { $0 }
        #expect(count > 200, "\(count)")
    }

    private func state(_ name: String = "notes", number: ChangeNumber = 4) -> ZoneState {
        ZoneState(
            id: ZoneID(7), key: ZoneKey(database: DatabaseID(3), name: name), createdAt: Timestamp(milliseconds: 0),
            changeNumber: number)
    }

    private func record(_ number: ChangeNumber, text: String = "x") throws -> RecordState {
        let time = Timestamp(milliseconds: 0)
        return RecordState(
            name: "r\(number)", type: "Note", fields: try FieldMap([Field("text", .string(text))]),
            changeNumber: number,
            isDeleted: false, parent: nil, createdAt: time, createdBy: UserID(1), createdByDevice: reader,
            modifiedAt: time, modifiedBy: UserID(1), batchEnd: number)
    }

    private func news(_ name: String = "notes") throws -> ZoneNews {
        ZoneNews(store: StoreIncarnation(1), before: state(name), changeNumber: 5, records: [try record(5)])
    }

    @Test func `I-7: commits that are large, and what changes nothing, are no news`() throws {
        func news(_ records: [RecordState], before: ZoneState?) -> ZoneNews? {
            ZoneNews(
                of: ZoneChanges(
                    database: DatabaseID(3), zone: ZoneID(7), changeNumber: records.last?.changeNumber ?? 4,
                    records: records, memories: [:], clientTokensMax: Limits().clientTokensMax),
                before: before, store: StoreIncarnation(1))
        }
        #expect(news([try record(5)], before: state())?.records.count == 1)
        #expect(news([], before: state()) == nil)
        #expect(news([try record(5)], before: nil) == nil)
        let many = try (5..<5 + ChangeNumber(ZoneNews.recordsMax)).map { try record($0) }
        #expect(news(many, before: state()) != nil)
        #expect(news(many + [try record(99)], before: state()) == nil)
        #expect(news([try record(5, text: String(repeating: "x", count: ZoneNews.bytesMax))], before: state()) == nil)
    }

    @Test func `I-2: only who has read all before it, in a feed with room, is brought news`() throws {
        let here = ZonePageQuery.Position(zone: ZoneID(7), number: 4)
        let feed = FeedPosition(number: 2, ahead: [.init(zone: ZoneID(7), changeNumber: 3)])
        func pages(
            _ feed: FeedPosition, _ zone: ZonePageQuery.Position, of viewer: Int64 = 3, name: String = "notes"
        ) throws -> ChangeToken? {
            try news(name).pages(after: feed, in: zone, of: DatabaseID(viewer), for: reader)?.database.token
        }
        let told = FeedPosition(number: 2, ahead: [.init(zone: ZoneID(7), changeNumber: 5)])
        #expect(
            try pages(feed, here)
                == .database(store: StoreIncarnation(1), viewer: DatabaseID(3), position: told))
        for place in [
            ZonePageQuery.Position(zone: ZoneID(7), number: 3), .init(zone: ZoneID(7), number: 5),
            .init(zone: ZoneID(6), number: 4), .init(zone: ZoneID(7), number: 4, begunAt: 9),
        ] {
            #expect(try pages(feed, place) == nil, "elsewhere, or in the middle of a first fetch")
        }
        #expect(try pages(feed, here, of: 4) == nil, "another database")
        #expect(try pages(feed, here, name: ZoneName.default) == nil, "R-202: no feed")
        let others = (20..<20 + Int64(FeedPosition.aheadMax)).map {
            FeedPosition.Ahead(zone: ZoneID($0), changeNumber: 1)
        }
        #expect(try pages(FeedPosition(number: 2, ahead: others), here) == nil, "no room")
        #expect(try pages(FeedPosition(number: 2, ahead: Array(others.dropLast())), here) != nil)
    }
}
