// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing
import TidemarkDomain
import TidemarkPostgres
import TidemarkService
import TidemarkTestSupport

@testable import TidemarkStore

@Suite struct PostgresNoticeBusTests {
    private static let notice = ServerNotice.zone(
        ZoneNotice(database: DatabaseID(1), life: DeviceID(high: 0, low: 1), zoneName: "Notes"))

    @Test func `I-4: each server hears what one publishes, itself included, after it was told of the gap before`() async throws {
        try await StoreFixture.run { fixture in
            let storage = try fixture.storage()
            let (heard, hear) = AsyncStream.makeStream(of: [ServerNotice].self)
            let (gaps, gap) = AsyncStream.makeStream(of: Void.self)
            let buses = ["a/1", "b/2"].map { PostgresNoticeBus(storage, server: $0) }
            for bus in buses {
                #expect(bus.returnsOwn)
                try bus.start(onNotices: { hear.yield($0) }, onGap: { gap.yield() })
                // Only the first call counts: nothing is heard twice.
                try bus.start(onNotices: { hear.yield($0) }, onGap: { gap.yield() })
            }
            var told = gaps.makeAsyncIterator()
            for _ in buses { _ = await told.next() }
            #expect(await buses[0].publish([Self.notice]))
            var ears = heard.makeAsyncIterator()
            for _ in buses { #expect(await ears.next() == [Self.notice]) }
            for bus in buses { bus.stop() }
            try await eventually(within: .seconds(60)) { try await AdminStore(storage).listeningServers().isEmpty }
            await storage.stop()
        }
    }

    @Test func `R-873: a server counts those that listen, and posts at the pace of so many`() async throws {
        try await StoreFixture.run { fixture in
            let storage = try fixture.storage()
            let bus = PostgresNoticeBus(storage, server: "a/1", countInterval: .milliseconds(50))
            #expect(bus.pace == .quickest)
            // Operators' commands listen too, and are no servers.
            let others = try (1...15).map {
                try NoticeListener(
                    url: fixture.database.url, loop: fixture.loop, server: $0 == 1 ? nil : "b/\($0)", onNotices: { _ in },
                    onListening: {})
            }
            try bus.start(onNotices: { _ in }, onGap: {})
            try await eventually(within: .seconds(60)) { bus.pace == PostingPace(listeners: 15) }
            for listener in others { listener.stop() }
            try await eventually(within: .seconds(60)) { bus.pace == .quickest }
            bus.stop()
            await storage.stop()
        }
    }
}
