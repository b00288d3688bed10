// SPDX-License-Identifier: Apache-2.0

internal import Testing
internal import TidemarkTestSupport

@testable internal import TidemarkPostgres

@Suite struct LeaseTableTests {
    @Test func `who waits is served in order`() {
        var table = LeaseTable(placeCount: 1, capacity: 1, waiterCountMax: 10)
        #expect(table.acquire(waiter: 1) == .wait)
        #expect(table.acquire(waiter: 2) == .wait)
        #expect(table.acquire(waiter: 3) == .wait)
        #expect(table.opened(0).map(\.waiter) == [1])
        #expect([table.leave(waiter: 2), table.leave(waiter: 2), table.leave(waiter: 1)] == [true, false, false])
        #expect(table.release(0).map(\.waiter) == [3])
        #expect(table.release(0).isEmpty)
        #expect(table.acquire(waiter: 4) == .granted(place: 0))
    }

    @Test func `a place is unused if it has a connection, and no caller`() {
        var table = LeaseTable(placeCount: 1, capacity: 2, waiterCountMax: 1)
        #expect(!table.isUnused(0))
        _ = table.opened(0)
        #expect(table.isUnused(0))
        #expect(table.acquireFree() == 0 && !table.isUnused(0))
        _ = table.release(0)
        #expect(table.isUnused(0))
        table.closed(0)
        #expect(!table.isUnused(0))
    }

    @Test func `the queue has an end`() {
        var table = LeaseTable(placeCount: 1, capacity: 1, waiterCountMax: 2)
        #expect([table.acquire(waiter: 1), table.acquire(waiter: 2)] == [.wait, .wait])
        #expect(table.acquire(waiter: 3) == .refused)
        #expect(table.leave(waiter: 1) == true)
        #expect(table.acquire(waiter: 4) == .wait)
        #expect(table.stop() == [2, 4])
    }

    @Test func `a shared place serves up to its capacity`() {
        var table = LeaseTable(placeCount: 1, capacity: 2, waiterCountMax: 10)
        _ = table.opened(0)
        #expect(table.acquire(waiter: 1) == .granted(place: 0))
        #expect(table.acquire(waiter: 2) == .granted(place: 0))
        #expect(table.acquire(waiter: 3) == .wait)
        #expect(table.release(0).map(\.waiter) == [3])
    }

    @Test func `shared places get as much to do as each other`() {
        var table = LeaseTable(placeCount: 2, capacity: 2, waiterCountMax: 10)
        _ = table.opened(0)
        _ = table.opened(1)
        let places = (1...4).map { table.acquire(waiter: $0) }
        #expect(places == [.granted(place: 1), .granted(place: 0), .granted(place: 1), .granted(place: 0)])
        #expect(table.acquire(waiter: 5) == .wait)
        #expect(table.release(1).map(\.place) == [1])
        _ = table.release(0)
        #expect(table.acquire(waiter: 6) == .granted(place: 0))
    }

    /// Three places of which the last is a spare, all open.
    private func tableWithSpare(capacity: Int = 4) -> LeaseTable {
        var table = LeaseTable(placeCount: 3, capacity: capacity, waiterCountMax: 10, spareCount: 1)
        for place in 0..<3 { _ = table.opened(place) }
        return table
    }

    @Test func `R-739: a spare place is not used while another one has no long work`() {
        var table = tableWithSpare()
        let places = (0..<8).map { _ in table.acquireFree() }
        #expect(places.allSatisfy { $0 == 0 || $0 == 1 } && Set(places).count == 2)
        // Both are full.
        #expect(table.acquireFree() == 2)
        for place in places.compactMap(\.self) { _ = table.release(place) }
        #expect(table.acquireFree() != 2)
    }

    @Test func `R-739: beside long work on all other places the spare serves the others, and never waits for it`()
        throws
    {
        var table = tableWithSpare()
        let one = table.acquireFree(isLong: true)
        let first = try #require(one)
        #expect(first != 2)
        // One of two has long work: others go to the other one.
        let others = (0..<3).map { _ in table.acquireFree() }
        #expect(others.allSatisfy { $0 == 1 - first })
        let other = table.acquireFree(isLong: true)
        let second = try #require(other)
        #expect(second == 1 - first)
        for _ in 0..<4 { #expect(table.acquireFree() == 2) }
        // A third long work leaves the spare alone, too.
        #expect(table.acquireFree(isLong: true) != 2)
        // Only a full spare makes somebody wait for long work.
        #expect(table.acquireFree() == first)
        for _ in 0..<2 { _ = table.release(first, isLong: true) }
        #expect(table.acquireFree() == first)
    }

    @Test func `R-739: without the others, a spare serves everybody`() {
        var table = tableWithSpare()
        table.closed(0)
        table.closed(1)
        #expect(table.acquireFree() == 2 && table.acquireFree(isLong: true) == 2)
        // Who waits is remembered with its kind.
        var full = tableWithSpare(capacity: 1)
        for _ in 0..<3 { _ = full.acquireFree(isLong: true) }
        #expect(full.acquire(waiter: 1, isLong: true) == .wait)
        #expect(full.release(0, isLong: true).map(\.waiter) == [1])
        _ = full.release(2, isLong: true)
        #expect(full.acquireFree() == 2)
    }

    @Test func `a place whose connection is lost while it is lent is lent again only when both have come back`() {
        var table = LeaseTable(placeCount: 1, capacity: 1, waiterCountMax: 10)
        _ = table.opened(0)
        #expect(table.acquire(waiter: 1) == .granted(place: 0))
        table.closed(0)
        #expect(table.acquire(waiter: 2) == .wait)
        #expect(table.opened(0).isEmpty)
        #expect(table.release(0).map(\.waiter) == [2])
    }

    @Test func `in any order of events nobody is forgotten or served twice`() {
        var random = SeededRandom()
        for _ in 0..<200 {
            let capacity = Int.random(in: 1...3, using: &random)
            let spareCount = Int.random(in: 0...2, using: &random)
            var table = LeaseTable(placeCount: 3, capacity: capacity, waiterCountMax: 8, spareCount: spareCount)
            var open = Set<Int>()
            var leases: [(place: Int, isLong: Bool)] = []
            var waiting: [Int] = []
            // Each third work is long.
            func isLong(_ number: Int) -> Bool { number.isMultiple(of: 3) }
            var next = 0
            func serve(_ grants: [(waiter: Int, place: Int)]) -> Bool {
                for (waiter, place) in grants {
                    guard waiting.first == waiter, open.contains(place) else { return false }
                    waiting.removeFirst()
                    leases.append((place, isLong(waiter)))
                }
                return true
            }
            for _ in 0..<100 {
                let place = Int.random(in: 0..<3, using: &random)
                switch Int.random(in: 0..<6, using: &random) {
                case 0 where !open.contains(place):
                    open.insert(place)
                    #expect(serve(table.opened(place)), "seed \(random.seed)")
                case 1 where open.contains(place):
                    open.remove(place)
                    table.closed(place)
                case 2 where !leases.isEmpty:
                    let index = Int.random(in: leases.indices, using: &random)
                    let lease = leases.remove(at: index)
                    #expect(serve(table.release(lease.place, isLong: lease.isLong)), "seed \(random.seed)")
                case 3 where !waiting.isEmpty:
                    let index = Int.random(in: waiting.indices, using: &random)
                    #expect(table.leave(waiter: waiting.remove(at: index)) == true)
                default:
                    next += 1
                    switch table.acquire(waiter: next, isLong: isLong(next)) {
                    case .granted(let place):
                        #expect(waiting.isEmpty && open.contains(place), "seed \(random.seed)")
                        leases.append((place, isLong(next)))
                    case .wait: waiting.append(next)
                    case .refused: #expect(waiting.count == 8)
                    }
                }
                let hasRoom = open.contains { place in leases.count { $0.place == place } < capacity }
                #expect(waiting.isEmpty || !hasRoom, "seed \(random.seed)")
                #expect(table.waiterCount == waiting.count && table.useCount == leases.count)
            }
        }
    }
}
