// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkFairness
import TidemarkTestSupport

/// A bounded cache from which goes what is not used (I-7), first of whoever has most.
@Suite struct FairCacheTests {
    private let flood = WorkOwner.account(1)
    private let other = WorkOwner.account(2)

    @Test func `I-7: what is used stays, what is not used goes, and all together are bounded`() {
        var cache = FairCache<Int, Int>(roomMax: 100)
        cache.keep(0, as: 0, room: 10, of: flood)
        for number in 1...1_000 {
            let left = cache.keep(number, as: number, room: 10, of: flood)
            #expect(left == (number < 10 ? [] : [number - 9]))
            #expect(cache.use(0) == 0)
            #expect(cache.room <= 100)
        }
        #expect((1...1_000).filter { cache.take($0) != nil } == Array(992...1_000))
        #expect(cache.take(0)?.owner == flood)
        #expect(cache.use(0) == nil && cache.room == 0)
    }

    @Test func `a value that is kept again counts with its new room and owner`() {
        var cache = FairCache<Int, Int>(roomMax: 100)
        for number in 0..<4 { cache.keep(number, as: number, room: 10, of: flood) }
        cache.keep(7, as: 0, room: 60, of: other)
        #expect(cache.room == 90)
        // It has most, so it goes first.
        #expect(cache.keep(8, as: 8, room: 20, of: flood) == [7])
        #expect(cache.room == 50 && cache.take(0) == nil)
    }

    @Test func `a value that is larger than the room is kept until the next one comes`() {
        var cache = FairCache<Int, Int>(roomMax: 100)
        cache.keep(1, as: 1, room: 10, of: other)
        #expect(cache.keep(2, as: 2, room: 1_000, of: flood) == [1])
        #expect(cache.use(2) == 2)
        #expect(cache.keep(3, as: 3, room: 10, of: other) == [2])
        #expect(cache.use(3) == 3)
    }

    @Test func `R-780: for one that comes some go, and the next ones take the rest along`() {
        var cache = FairCache<Int, Int>(roomMax: 1_000)
        for number in 0..<1_000 { cache.keep(number, as: number, room: 1, of: flood) }
        let most = FairCache<Int, Int>.leavingMax
        #expect(cache.keep(-1, as: -1, room: 900, of: other).count == most)
        #expect(cache.room == 1_900 - most)
        // Now the other has most by far.
        #expect(cache.keep(-2, as: -2, room: 1, of: flood) == [-1])
        #expect(cache.room <= 1_000)
    }

    @Test func `R-780: an owner that floods the cache takes nothing from those who have little`() {
        var cache = FairCache<Int, Int>(roomMax: 3_200)
        for number in 0..<10_000 { cache.keep(number, as: number, room: 1, of: flood) }
        // Each of these has a small part.
        for owner in 2...11 {
            for number in 0..<100 {
                let key = -(100 * owner + number)
                #expect(cache.keep(key, as: key, room: 1, of: .account(Int64(owner))).allSatisfy { $0 >= 0 })
            }
        }
        for number in 10_000..<20_000 {
            #expect(cache.keep(number, as: number, room: 1, of: flood).allSatisfy { $0 >= 0 })
        }
        #expect((200..<1_200).allSatisfy { cache.use(-$0) != nil })
        #expect(cache.room == 3_200)
    }

    @Test func `R-780: everybody without a credential has the smallest part`() {
        var cache = FairCache<Int, Int>(roomMax: 1_280)
        for number in 0..<640 { cache.keep(number, as: number, room: 1, of: .nobody) }
        for number in 640..<1_280 { cache.keep(number, as: number, room: 1, of: flood) }
        for number in 1_280..<1_700 {
            #expect(cache.keep(number, as: number, room: 1, of: other).allSatisfy { $0 < 640 }, "nobody's go")
        }
    }

    @Test func `what is lent is found by nobody, and comes back with its room, unless it has left meanwhile`() {
        var cache = FairCache<Int, Int>(roomMax: 100)
        for number in 0..<3 { cache.keep(number, as: number, room: 10, of: flood) }
        func lend(_ key: Int) -> FairCache<Int, Int>.Loan? { cache.lend(key)?.loan }
        guard let loan = lend(0) else {
            Issue.record("nothing was lent")
            return
        }
        #expect(lend(0) == nil && cache.use(0) == nil && cache.value(of: 0) == nil)
        #expect(cache.room == 30 && cache.values.sorted() == [1, 2])
        #expect(cache.takeBack(70, loan, room: 40) == [])
        #expect(cache.value(of: 0) == 70 && cache.room == 60)
        // It was used last, so it is the last to go.
        #expect(cache.keep(3, as: 3, room: 55, of: flood) == [1, 2])
        // Another value has its key, or it was forgotten.
        for isReplaced in [true, false] {
            guard let lost = lend(0) else {
                Issue.record("nothing was lent")
                return
            }
            if isReplaced {
                cache.keep(8, as: 0, room: 10, of: other)
            } else {
                #expect(cache.take(0) == nil)
            }
            let room = cache.room
            #expect(cache.takeBack(7, lost, room: 10) == [7], "it stays out")
            cache.forget(lost)
            #expect(cache.value(of: 0) == (isReplaced ? 8 : nil) && cache.room == room)
        }
        // What is never given back gives way as everything does.
        _ = lend(3)
        #expect(cache.keep(9, as: 9, room: 90, of: other) == [])
        #expect(cache.count == 1 && cache.room == 90)
    }

    @Test func `the value that an owner used longest ago can be taken`() {
        var cache = FairCache<Int, Int>(roomMax: 100)
        for number in 0..<4 { cache.keep(number, as: number, room: 10, of: number == 0 ? other : flood) }
        #expect(cache.use(1) == 1)
        #expect(cache.takeOldest(of: flood) == 2)
        #expect(cache.room(of: flood) == 20 && cache.room(of: other) == 10)
        #expect(cache.takeOldest(of: .nobody) == nil)
    }

    /// Each value that goes is the oldest of an owner that has most, or the oldest of all while nobody has much.
    @Test func `R-780: in any history the one that goes is the right one`() {
        var random = SeededRandom()
        for _ in 0..<100 {
            let roomMax = Int.random(in: 1...2_000, using: &random)
            var cache = FairCache<Int, Int>(roomMax: roomMax)
            var known: [(key: Int, room: Int, owner: WorkOwner)] = []
            let owners: [WorkOwner] = [.nobody] + (1...Int64.random(in: 1...40, using: &random)).map { .account($0) }
            func part(_ owner: WorkOwner) -> Int { owner == .nobody ? roomMax / 128 : roomMax / 32 }
            func excess(_ owner: WorkOwner) -> Double {
                let room = known.reduce(0) { $0 + ($1.owner == owner ? $1.room : 0) }
                return room > part(owner) ? Double(room) / Double(max(1, part(owner))) : 0
            }
            for _ in 0..<400 {
                let key = Int.random(in: 0..<200, using: &random)
                let place = known.firstIndex { $0.key == key }
                switch Int.random(in: 0..<7, using: &random) {
                case 0:
                    #expect(cache.use(key) == place.map { known[$0].key }, "\(random.seed)")
                    if let place { known.append(known.remove(at: place)) }
                case 1:
                    #expect(cache.take(key)?.owner == place.map { known[$0].owner }, "\(random.seed)")
                    if let place { known.remove(at: place) }
                case 2:
                    // With the room that it had, so nothing must give way.
                    let lent = cache.lend(key)
                    #expect(lent?.value == place.map { known[$0].key }, "\(random.seed)")
                    if let lent, let place {
                        #expect(cache.takeBack(key, lent.loan, room: known[place].room) == [], "\(random.seed)")
                        known.append(known.remove(at: place))
                    }
                default:
                    if let place { known.remove(at: place) }
                    let owner = random.pick(owners)
                    let room = Int.random(in: 1...max(1, roomMax / 10), using: &random)
                    known.append((key, room, owner))
                    for left in cache.keep(key, as: key, room: room, of: owner) {
                        guard let index = known.firstIndex(where: { $0.key == left }) else {
                            Issue.record("\(left) was not there, seed \(random.seed)")
                            return
                        }
                        let giver = known[index].owner
                        let others = Set(known.dropLast().map(\.owner))
                        let most = others.map(excess).max() ?? 0
                        let oldest = known.firstIndex { most == 0 || $0.owner == giver }
                        #expect(left != key && index == oldest && excess(giver) >= most, "seed \(random.seed)")
                        known.remove(at: index)
                    }
                }
                #expect(cache.room == known.reduce(0) { $0 + $1.room }, "seed \(random.seed)")
                #expect(cache.room <= roomMax || known.count == 1, "seed \(random.seed)")
            }
        }
    }
}
