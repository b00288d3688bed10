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
            var table = LeaseTable(placeCount: 3, capacity: capacity, waiterCountMax: 8)
            var open = Set<Int>()
            var leases: [Int] = []
            var waiting: [Int] = []
            var next = 0
            func serve(_ grants: [(waiter: Int, place: Int)]) -> Bool {
                for (waiter, place) in grants {
                    guard waiting.first == waiter, open.contains(place) else { return false }
                    waiting.removeFirst()
                    leases.append(place)
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
                    #expect(serve(table.release(leases.remove(at: index))), "seed \(random.seed)")
                case 3 where !waiting.isEmpty:
                    let index = Int.random(in: waiting.indices, using: &random)
                    #expect(table.leave(waiter: waiting.remove(at: index)) == true)
                default:
                    next += 1
                    switch table.acquire(waiter: next) {
                    case .granted(let place):
                        #expect(waiting.isEmpty && open.contains(place), "seed \(random.seed)")
                        leases.append(place)
                    case .wait: waiting.append(next)
                    case .refused: #expect(waiting.count == 8)
                    }
                }
                let hasRoom = open.contains { place in leases.count { $0 == place } < capacity }
                #expect(waiting.isEmpty || !hasRoom, "seed \(random.seed)")
                #expect(table.waiterCount == waiting.count && table.useCount == leases.count)
            }
        }
    }
}
