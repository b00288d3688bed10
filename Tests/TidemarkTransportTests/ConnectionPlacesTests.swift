// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkSockets
import TidemarkTestSupport

@testable import TidemarkTransport

/// Who gets a server's next connection.
@Suite struct ConnectionPlacesTests {
    private func block(_ number: Int) -> AddressBlock {
        guard let address = SocketAddress(numericHost: "10.0.\(number / 256).\(number % 256)", port: 1) else {
            preconditionFailure("an address")
        }
        return address.block
    }

    @Test func `R-721: an IPv6 network counts as one address, and an IPv4 address as itself`() throws {
        func block(_ host: String) throws -> AddressBlock {
            try #require(SocketAddress(numericHost: host, port: 1)).block
        }
        #expect(try block("2001:db8:1:2::1") == block("2001:db8:1:2:ffff::9"))
        #expect(try block("2001:db8:1:2::1") != block("2001:db8:1:3::1"))
        #expect(try block("10.0.0.1") != block("10.0.0.2"))
        #expect(try block("::ffff:10.0.0.1") == block("10.0.0.1"))
    }

    @Test func `R-721: an address with too many newcomers loses its own oldest, and nobody else's`() {
        let limits = PlaceLimits(connectionsMax: 128)
        var places = ConnectionPlaces(limits)
        _ = places.arrive(1, from: block(1), at: .zero)
        for id in 2...UInt64(limits.newcomersPerAddressMax + 1) { _ = places.arrive(id, from: block(2), at: .zero) }
        // All are young, so the new one is refused.
        let early = places.arrive(1_000, from: block(2), at: .milliseconds(999))
        #expect(early.refusal == .ofAddress && early.victim == nil)
        let late = places.arrive(1_001, from: block(2), at: .seconds(1))
        #expect(late.refusal == nil && late.victim?.id == 2 && late.victim?.why == .ofAddress)
        #expect(places.arrive(1_002, from: block(3), at: .seconds(1)).refusal == nil)
    }

    @Test func `R-721: an address with many young newcomers gives way to one with few`() {
        let limits = PlaceLimits(connectionsMax: 128)
        var places = ConnectionPlaces(limits)
        for id in 1...UInt64(limits.newcomersMax) {
            #expect(places.arrive(id, from: block(Int(id % 4)), at: .zero).refusal == nil)
        }
        let other = places.arrive(1_000, from: block(9), at: .milliseconds(1))
        #expect(other.refusal == nil && other.victim?.why == .ofServer)
        // Those of whom it takes the places have no more right to its own.
        #expect(places.arrive(1_001, from: block(1), at: .milliseconds(2)).refusal != nil)
    }

    @Test func `R-721: of addresses with as many newcomers the one that came first gives way`() {
        let limits = PlaceLimits(connectionsMax: 128)
        let count = UInt64(limits.newcomersMax)
        for young in 1...count {
            var places = ConnectionPlaces(limits)
            for id in 1...count {
                // One of them came a moment ago, the others long before.
                let time: Duration = id == young ? .seconds(500) : .milliseconds(Int(id))
                #expect(places.arrive(id, from: block(Int(id)), at: time).refusal == nil)
            }
            let next = places.arrive(1_000, from: block(900), at: .milliseconds(500_100))
            #expect(next.refusal == nil && next.victim?.id == (young == 1 ? 2 : 1), "\(young)")
        }
    }

    @Test func `R-944: a connection of a proxy becomes one of its client, and leaves the proxy's place`() {
        let limits = PlaceLimits(connectionsMax: 128)
        var places = ConnectionPlaces(limits)
        // Many more than one address may have, one after the other.
        for id in 1...UInt64(limits.newcomersPerAddressMax) {
            #expect(places.arrive(id, from: block(1), at: .zero).refusal == nil)
            #expect(places.move(id, to: block(100 + Int(id)), at: .zero)?.refusal == nil)
        }
        #expect(places.arrive(1_000, from: block(1), at: .zero).refusal == nil)
        #expect(places.newcomerCount == limits.newcomersPerAddressMax + 1)
        // The clients have their own bound.
        var refused = 0
        for id in 2_000..<2_000 + UInt64(limits.newcomersPerAddressMax) {
            _ = places.arrive(id, from: block(1), at: .zero)
            if places.move(id, to: block(101), at: .zero)?.refusal == .ofAddress { refused += 1 }
        }
        #expect(refused == 1)
    }

    @Test func `R-944: the bound of one address does not count for a proxy's connections before their headers`() {
        let limits = PlaceLimits(connectionsMax: 128)
        var places = ConnectionPlaces(limits)
        for id in 1...UInt64(limits.newcomersMax) {
            let arrival = places.arrive(id, from: block(1), isProxy: true, at: .seconds(Int64(id)))
            #expect(arrival.refusal == nil && arrival.victim == nil && arrival.ended == nil, "\(id)")
        }
        #expect(places.newcomerCount == limits.newcomersMax && limits.newcomersMax > limits.newcomersPerAddressMax)
        // The bound of the server counts for all.
        let next = places.arrive(1_000, from: block(1), isProxy: true, at: .seconds(500))
        #expect(next.refusal == nil && next.victim?.id == 1 && next.victim?.why == .ofServer)
    }

    @Test func `R-944: what was decided for a proxy's address does not count for its client`() {
        let limits = PlaceLimits(connectionsMax: 128)
        var places = ConnectionPlaces(limits)
        for id in 1...UInt64(limits.newcomersPerAddressMax) { _ = places.arrive(id, from: block(1), at: .zero) }
        #expect(places.arrive(500, from: block(1), at: .zero).refusal == .ofAddress)
        #expect(!places.isNewcomer(500) && places.leavingCount == 1)
        #expect(places.move(500, to: block(2), at: .zero)?.refusal == nil)
        #expect(places.isNewcomer(500) && places.leavingCount == 0)
        // The oldest of the proxy's is still one of the proxy's, not one that has moved.
        #expect(places.move(1, to: block(3), at: .seconds(1))?.refusal == nil)
        _ = places.arrive(501, from: block(1), at: .seconds(2))
        #expect(places.arrive(502, from: block(1), at: .seconds(2)).victim?.id == 2)
        // One that has ended or settled stays as it is.
        places.leave(500)
        #expect(places.move(500, to: block(4), at: .seconds(2)) == nil)
        #expect(places.settle(3, isAnonymous: false) == nil)
        #expect(places.move(3, to: block(4), at: .seconds(2)) == nil)
    }

    @Test func `R-721: nobody without a credential takes the places of those who have one`() {
        let limits = PlaceLimits(connectionsMax: 80, anonymousMax: 20, anonymousPerAddressMax: 5)
        var places = ConnectionPlaces(limits)
        var id: UInt64 = 0
        func enter(_ address: Int, isAnonymous: Bool, _ now: Duration) -> Overcrowding? {
            id += 1
            let arrival = places.arrive(id, from: block(address), at: now)
            #expect(arrival.refusal == nil)
            let crowd = places.settle(id, isAnonymous: isAnonymous)
            if crowd != nil { places.leave(id) }
            return crowd
        }
        for address in 0..<100 {
            for count in 0..<8 {
                let expected: Overcrowding? = address >= 4 ? .ofServer : count < 5 ? nil : .ofAddress
                #expect(enter(address, isAnonymous: true, .seconds(address)) == expected)
            }
        }
        for _ in 0..<limits.settledMax - 20 { #expect(enter(0, isAnonymous: false, .seconds(200)) == nil) }
        #expect(enter(0, isAnonymous: false, .seconds(200)) == .ofServer)
    }

    /// Everything that may happen, in any order, beside what should follow.
    @Test func `R-721: in any history no bound is passed, and newcomers have their second`() {
        var random = SeededRandom()
        for _ in 0..<40 {
            let limits = PlaceLimits(
                connectionsMax: Int.random(in: 8...100, using: &random),
                anonymousMax: Int.random(in: 1...20, using: &random),
                anonymousPerAddressMax: [nil, 1, 3].randomElement(using: &random) ?? nil)
            var places = ConnectionPlaces(limits)
            var alive: [UInt64: (address: Int, at: Duration)] = [:]
            var anonymous: [Int: Int] = [:]
            var settled: [UInt64: Bool] = [:]
            var now = Duration.zero
            for id in 1...UInt64(600) {
                now += .milliseconds(Int.random(in: 0...300, using: &random))
                let address = Int.random(in: 0..<4, using: &random)
                let arrival = places.arrive(id, from: block(address), at: now)
                alive[id] = (address, now)
                if let victim = arrival.victim {
                    let old = alive[victim.id]
                    // A young one gives way to another address alone.
                    #expect(
                        old.map { now - $0.at >= limits.patience || $0.address != address } == true,
                        "seed \(random.seed)")
                    #expect(victim.why == .ofServer || old?.address == address, "seed \(random.seed)")
                }
                if let ended = arrival.ended { alive[ended] = nil }
                if alive[id] != nil, Int.random(in: 0..<3, using: &random) == 0 {
                    let other = Int.random(in: 0..<4, using: &random)
                    let moved = places.move(id, to: block(other), at: now)
                    #expect(moved != nil, "seed \(random.seed)")
                    alive[id] = (other, now)
                    if let ended = moved?.ended { alive[ended] = nil }
                }
                for other in alive.keys.sorted() where Int.random(in: 0..<6, using: &random) == 0 {
                    if settled[other] == nil, Bool.random(using: &random) {
                        let isAnonymous = Bool.random(using: &random)
                        let before = (places.anonymousCount, places.memberCount)
                        let crowd = places.settle(other, isAnonymous: isAnonymous)
                        if crowd == nil, (places.anonymousCount, places.memberCount) != before {
                            settled[other] = isAnonymous
                            if isAnonymous, let address = alive[other]?.address { anonymous[address, default: 0] += 1 }
                        }
                        if let ended = places.firstToEnd() { alive[ended] = nil }
                    } else if Bool.random(using: &random) {
                        places.leave(other)
                        places.leave(other)
                        if settled[other] == true, let address = alive[other]?.address {
                            anonymous[address, default: 0] -= 1
                        }
                        alive[other] = nil
                    }
                }
                #expect(places.count == alive.count && places.count <= limits.connectionsMax, "seed \(random.seed)")
                #expect(places.newcomerCount <= limits.newcomersMax && places.leavingCount <= limits.leavingMax)
                #expect(
                    places.anonymousCount == anonymous.values.reduce(0, +)
                        && places.anonymousCount <= limits.anonymousMax)
                #expect(anonymous.values.allSatisfy { $0 <= limits.anonymousPerAddressMax }, "seed \(random.seed)")
            }
            for id in alive.keys { places.leave(id) }
            #expect(places.newcomerCount + places.anonymousCount + places.memberCount + places.leavingCount == 0)
        }
    }
}
