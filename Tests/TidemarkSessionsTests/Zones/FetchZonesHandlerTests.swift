// SPDX-License-Identifier: Apache-2.0

import SessionTestSupport
import Testing
import TidemarkDomain
import TidemarkSessions
import TidemarkTestSupport
import TidemarkWire

/// All zones of a database, which come in pages.
@Suite struct FetchZonesHandlerTests {
    private let world = SessionWorld { $0.limits.pageZonesMax = 3 }

    private func page(_ client: TestClient, after cursor: [UInt8] = []) throws -> (names: [String], cursor: [UInt8]) {
        var request = WireFetchZones()
        request.database = .private
        request.cursor = cursor
        let answer = try client.ask(.fetchZones(request))
        guard case .fetchZones(let zones)? = answer else { throw SessionWorld.Unexpected(answer) }
        return (zones.zones.map(\.zone.id.name), zones.cursor)
    }

    /// - Parameter meanwhile: happens after each page but the last, with the number of pages until then.
    private func pages(_ client: TestClient, meanwhile: (Int) throws -> Void = { _ in }) throws -> [[String]] {
        var (names, cursor) = try page(client)
        var pages = [names]
        while !cursor.isEmpty, pages.count < 100 {
            try meanwhile(pages.count)
            (names, cursor) = try page(client, after: cursor)
            pages.append(names)
        }
        return pages
    }

    @Test func `R-022, R-716: all zones come in pages, oldest first`() throws {
        let client = try world.enter()
        var expected = [[ZoneName.default]]
        #expect(try pages(client) == expected)
        for name in ["g", "f", "e", "d", "c", "b", "a"] {
            try client.makeZone(name)
            if expected[expected.count - 1].count == 3 { expected.append([]) }
            expected[expected.count - 1].append(name)
            #expect(try pages(client) == expected, "a full page is the last one if no zone is left")
        }
    }

    @Test func `R-716: zones that are made and deleted between two pages make no other be skipped or come twice`()
        throws
    {
        let client = try world.enter()
        for name in ["a", "b", "c", "d", "e", "f", "g"] { try client.makeZone(name) }
        let pages = try pages(client) { count in
            switch count {
            case 1:
                // One that was read, and one that was not. Then the other one that was read, which is made again.
                for name in ["b", "d", "a"] { try client.deleteZone(name) }
                for name in ["a", "h"] { try client.makeZone(name) }
            case 2: try client.deleteZone("f")
            default: break
            }
        }
        #expect(pages == [[ZoneName.default, "a", "b"], ["c", "e", "f"], ["g", "a", "h"]])
    }

    @Test func `R-716: whatever others do, each zone that lives all the time comes once`() throws {
        var random = SeededRandom()
        let client = try world.enter()
        let lasting = (0..<12).map { "lasting-\($0)" }
        var others: [String] = []
        for name in lasting {
            try client.makeZone(name)
            others.append("other-\(name)")
            try client.makeZone("other-\(name)")
        }
        let pages = try pages(client) { count in
            for _ in 0..<2 {
                guard let place = others.indices.randomElement(using: &random) else { break }
                try client.deleteZone(others.remove(at: place))
            }
            others.append("new-\(count)")
            try client.makeZone("new-\(count)")
        }
        let names = pages.flatMap { $0 }
        #expect(names.filter { $0.hasPrefix("lasting") } == lasting)
        #expect(Set(names).count == names.count, "no name was used again")
    }

    @Test func `R-716: a cursor that is damaged or of another database is refused, and zones by name need none`() throws
    {
        let alice = try world.enter()
        for name in ["a", "b", "c"] { try alice.makeZone(name) }
        let bob = try world.enter("bob", device: 2)
        let cursor = try page(alice).cursor
        var request = WireFetchZones()
        request.database = .private
        for bytes in [cursor, Array(cursor.dropLast()), [1, 2, 3]] as [[UInt8]] {
            request.cursor = bytes
            #expect(try bob.ask(.fetchZones(request))?.code == .invalidArguments)
        }
        request.cursor = []
        request.zones = ["a", "b", "c", "none"].map(TestClient.zone)
        guard case .fetchZones(let named)? = try alice.ask(.fetchZones(request)) else {
            return #expect(Bool(false), "no zones")
        }
        #expect(named.zones.map(\.zone.id.name) == ["a", "b", "c", ""])
        #expect(named.cursor.isEmpty)
    }
}
