// SPDX-License-Identifier: Apache-2.0

import SessionTestSupport
import Testing
import TidemarkDomain
import TidemarkSessions
import TidemarkTestSupport
import TidemarkWire

/// The keys of zones, which come in pages.
@Suite struct KeysHandlersPagesTests {
    private let world = SessionWorld {
        $0.limits.pageKeysMax = 4
        $0.limits.zoneKeysMax = 3
    }

    /// Zones a, b, c and d with one key, none, three and one.
    private func enter() throws -> TestClient {
        let client = try world.enter()
        for (zone, count) in [("a", 1), ("b", 0), ("c", 3), ("d", 1)] as [(String, UInt8)] {
            try client.makeZone(zone)
            var request = WireSaveZoneKey()
            request.database = .private
            request.zone = TestClient.zone(zone)
            for number in 0..<count {
                request.newestID = request.key.id
                request.key.id = [UInt8](repeating: number, count: 16)
                request.key.accountKeyID = [UInt8](repeating: 9, count: 16)
                request.key.wrapped = [UInt8](repeating: 9, count: 60)
                let answer = try client.ask(.saveZoneKey(request))
                guard case .saveZoneKey? = answer else { throw SessionWorld.Unexpected(answer) }
            }
        }
        return client
    }

    /// Of each zone of the answer: how many keys there are; nil if it is not there.
    private func page(_ client: TestClient, _ zones: [WireZoneID], inPages: Bool = true) throws -> [Int?] {
        let answer = try ask(client, zones, inPages: inPages)
        guard case .fetchKeys(let keys)? = answer else { throw SessionWorld.Unexpected(answer) }
        #expect(keys.account.mode == .escrowed, "the account's key is in each answer")
        return try keys.zones.map { zone throws -> Int? in
            switch zone.result {
            case .keys(let keys): return keys.keys.count
            case .failure(let failure) where failure.code == .zoneNotFound: return nil
            case .failure, nil: throw SessionWorld.Unexpected(answer)
            }
        }
    }

    private func ask(
        _ client: TestClient, _ zones: [WireZoneID], inPages: Bool
    ) throws -> WireServerEnvelope.OneOfAnswer? {
        var request = WireFetchKeys()
        request.database = .private
        request.zones = zones
        request.inPages = inPages
        return try client.ask(.fetchKeys(request))
    }

    @Test func `R-744: an answer has the keys of the first zones, and a client asks for the rest`() throws {
        let client = try enter()
        var foreign = TestClient.zone("a")
        foreign.owner = "_somebody"
        let zones = [foreign] + ["a", "none", "b"].map(TestClient.zone) + [foreign] + ["c", "d"].map(TestClient.zone)
        let first = try page(client, zones)
        #expect(first == [nil, 1, nil, 0, nil])
        #expect(try page(client, Array(zones[first.count...])) == [3, 1])
        #expect(try page(client, []) == [])
    }

    @Test func `R-967: older keys are retired in one's own database alone, where they can be read`() throws {
        let client = try enter()
        var request = WireSaveZoneKey()
        request.zone = TestClient.zone("c")
        request.newestID = [UInt8](repeating: 2, count: 16)
        request.key.id = [UInt8](repeating: 7, count: 16)
        request.key.accountKeyID = [UInt8](repeating: 9, count: 16)
        request.key.wrapped = [UInt8](repeating: 9, count: 60)
        request.retiresOlder = true
        request.database = .shared
        request.zone.owner = "_somebody"
        let refused = try client.ask(.saveZoneKey(request))
        guard case .failure(let failure)? = refused else { throw SessionWorld.Unexpected(refused) }
        #expect(failure.message.contains("Only the zone's owner"))
        request.database = .private
        request.zone = TestClient.zone("d")
        request.newestID = [UInt8](repeating: 0, count: 16)
        let answer = try client.ask(.saveZoneKey(request))
        guard case .saveZoneKey(let saved)? = answer else { throw SessionWorld.Unexpected(answer) }
        #expect(saved.keys.keys.map(\.id) == [[UInt8](repeating: 0, count: 16), request.key.id])
    }

    @Test func `R-744: a client that knows no pages gets all keys, or limitExceeded`() throws {
        let client = try enter()
        let zones = ["a", "b", "c", "d"].map(TestClient.zone)
        #expect(try page(client, Array(zones[..<2]), inPages: false) == [1, 0])
        #expect(try page(client, Array(zones[2...]), inPages: false) == [3, 1])
        guard case .failure(let failure)? = try ask(client, zones, inPages: false) else {
            Issue.record("no failure")
            return
        }
        #expect(failure.code == .limitExceeded && failure.message.contains("update the client"))
    }
}
