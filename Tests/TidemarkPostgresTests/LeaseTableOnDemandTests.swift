// SPDX-License-Identifier: Apache-2.0

internal import Testing
internal import TidemarkTestSupport

@testable internal import TidemarkPostgres

/// A table that opens a connection only when a caller needs it.
@Suite struct LeaseTableOnDemandTests {
    /// Of three places. `a`: a caller asks. `c`: the last who waits is cancelled. `o`: the first that is being opened opens.
    /// `f`: it does not, and the pause is over. `l`: the first open one is lost. `r`: the first that is lent comes back.
    @Test(arguments: [
        ("", 1, 0, 0), ("o", 0, 1, 0),
        // The first caller waits for what the start opens, and later callers for one connection each.
        ("a", 1, 0, 1), ("aa", 2, 0, 2), ("aaa", 3, 0, 3), ("aaaaa", 3, 0, 4),
        // An idle one is lent.
        ("oa", 0, 1, 0), ("oara", 0, 1, 0), ("oaa", 1, 1, 1), ("oaao", 0, 2, 0),
        // The waiting caller gets what came back, and the next one what was opened for it.
        ("oaar", 1, 1, 0), ("oaaro", 0, 2, 0), ("oaaroa", 0, 2, 0),
        // So it is if the caller is cancelled.
        ("oaac", 1, 1, 0), ("oaaco", 0, 2, 0), ("oaacoa", 0, 2, 0), ("oaaca", 1, 1, 1),
        // It is tried again while somebody waits for it, or if there is no other.
        ("af", 1, 0, 1), ("acf", 1, 0, 0), ("aaf", 2, 0, 2), ("aacf", 1, 0, 1), ("aaccf", 1, 0, 0), ("oaacf", 0, 1, 0),
        // A lost one is replaced on the same terms.
        ("ol", 1, 0, 0), ("olf", 1, 0, 0), ("oaaol", 1, 1, 0), ("oaaolf", 0, 1, 0), ("oaaolaf", 1, 1, 1),
        // What replaces a connection that somebody still has serves nobody until then.
        ("oala", 1, 0, 1), ("oalao", 1, 1, 1), ("oalaro", 0, 1, 0), ("oalaor", 1, 1, 0),
    ])
    func `how many are opened`(history: String, opening: Int, open: Int, waiting: Int) throws {
        var checked = CheckedTable(bound: 3)
        for letter in history { checked.perform(try #require(checked.event(letter))) }
        #expect(checked.fault == nil)
        #expect(checked.opening.count == opening && checked.open.count == open && checked.waiting.count == waiting)
    }

    @Test(arguments: [(1, 16), (2, 76), (3, 412)])
    func `in each state that there is, each event opens as many as are lacking, and nobody waits for ever`(
        bound: Int, stateCount: Int
    ) {
        var known: Set<CheckedTable.State> = []
        var next = [CheckedTable(bound: bound)]
        while let checked = next.popLast() {
            guard known.insert(checked.state).inserted else { continue }
            #expect(checked.servesAll)
            for event in checked.events {
                var after = checked
                after.perform(event)
                guard after.fault == nil else {
                    Issue.record("\(after.fault ?? "") after \(event) in \(checked.state)")
                    return
                }
                next.append(after)
            }
        }
        #expect(known.count == stateCount)
    }

    @Test func `in any order of events as many are opened as are lacking, and callers are served in order`() {
        var random = SeededRandom()
        for _ in 0..<200 {
            var checked = CheckedTable(bound: Int.random(in: 1...8, using: &random), waitingMax: 12)
            for _ in 0..<200 where checked.fault == nil {
                // Callers come more often than each other event, so that some wait.
                let event = random.oneIn(3) ? CheckedTable.Event.asks : random.pick(checked.events)
                checked.perform(event)
            }
            #expect(checked.fault == nil && checked.servesAll, "seed \(random.seed)")
        }
    }

    @Test func `a table that is not on demand opens all places at once, and each of them again`() {
        var table = LeaseTable(placeCount: 3, capacity: 4, waiterCountMax: 1, spareCount: 1)
        #expect(table.placesToOpen() == [0, 1, 2])
        #expect(table.placesToOpen() == [])
        for place in 0..<3 {
            #expect(table.reopens(place) == true)
            _ = table.opened(place)
        }
        table.closed(1)
        #expect(table.reopens(1) == true)
        #expect(table.placesToOpen() == [])
    }
}

/// A table, driven as a group drives it, and beside it a model of sets that says what must happen.
private struct CheckedTable {
    enum Event {
        case asks
        /// The caller at this index of those that wait.
        case leaves(Int)
        /// The connection of this place.
        case opens(Int)
        case fails(Int)
        case isLost(Int)
        case comesBack(Int)
    }

    struct State: Hashable {
        let opening: Set<Int>
        let open: Set<Int>
        let lent: Set<Int>
        let waitingCount: Int
    }

    private var table: LeaseTable
    private let bound: Int
    private let waitingMax: Int
    private(set) var opening: Set<Int> = []
    private(set) var open: Set<Int> = []
    /// Those that callers have. Some may have been lost meanwhile.
    private(set) var lent: Set<Int> = []
    private(set) var waiting: [Int] = []
    private var askedCount = 0
    /// What was wrong first.
    private(set) var fault: String?

    init(bound: Int, waitingMax: Int = 4) {
        self.bound = bound
        self.waitingMax = waitingMax
        table = LeaseTable(placeCount: bound, capacity: 1, waiterCountMax: waitingMax, opensOnDemand: true)
        openPlaces()
        checkAll()
    }

    var state: State { State(opening: opening, open: open, lent: lent, waitingCount: waiting.count) }

    /// What may happen next.
    var events: [Event] {
        [.asks] + waiting.indices.map { .leaves($0) } + opening.sorted().flatMap { [.opens($0), .fails($0)] }
            + open.sorted().map { .isLost($0) } + lent.sorted().map { .comesBack($0) }
    }

    func event(_ letter: Character) -> Event? {
        switch letter {
        case "a": .asks
        case "c": waiting.indices.last.map { .leaves($0) }
        case "o": opening.min().map { .opens($0) }
        case "f": opening.min().map { .fails($0) }
        case "l": open.min().map { .isLost($0) }
        case "r": lent.min().map { .comesBack($0) }
        default: nil
        }
    }

    /// Whether all who wait are served if each attempt to connect succeeds, and each caller returns its connection.
    var servesAll: Bool {
        var later = self
        for _ in 0..<2 * (bound + waiting.count) + 1 {
            if later.waiting.isEmpty { return later.fault == nil }
            guard let event = later.event("o") ?? later.event("r") else { return false }
            later.perform(event)
        }
        return later.waiting.isEmpty && later.fault == nil
    }

    mutating func perform(_ event: Event) {
        switch event {
        case .asks: ask()
        case .leaves(let index): check(table.leave(waiter: waiting.remove(at: index)), "one who waits can leave")
        case .opens(let place):
            opening.remove(place)
            open.insert(place)
            serve(table.opened(place))
            openPlaces()
        case .fails(let place):
            let isNeeded = opening.count <= waiting.count || opening.count + open.count == 1
            check(table.reopens(place) == isNeeded, "it is tried again if it is needed")
            if !isNeeded { opening.remove(place) }
        case .isLost(let place):
            open.remove(place)
            opening.insert(place)
            table.closed(place)
        case .comesBack(let place):
            lent.remove(place)
            serve(table.release(place))
        }
        checkAll()
    }

    private mutating func ask() {
        askedCount += 1
        let free = open.subtracting(lent)
        switch table.acquire(waiter: askedCount) {
        case .granted(let place):
            check(free.contains(place) && waiting.isEmpty, "a free one is lent if nobody waits")
            lent.insert(place)
        case .wait:
            check(free.isEmpty && waiting.count < waitingMax, "a caller waits if none is free")
            waiting.append(askedCount)
            openPlaces()
        case .refused: check(free.isEmpty && waiting.count == waitingMax, "too many wait")
        }
    }

    private mutating func openPlaces() {
        let closed = Set(0..<bound).subtracting(opening).subtracting(open)
        let lackingCount = max(waiting.count - opening.count, opening.isEmpty && open.isEmpty ? 1 : 0)
        let places = table.placesToOpen()
        check(places.count == min(lackingCount, closed.count), "as many are opened as are lacking")
        check(Set(places).count == places.count && closed.isSuperset(of: places), "only a closed one is opened")
        let unused = closed.subtracting(lent)
        check(unused.isSuperset(of: places) || unused.isSubset(of: places), "rather those that nobody has")
        opening.formUnion(places)
    }

    private mutating func serve(_ grants: [(waiter: Int, place: Int)]) {
        for (waiter, place) in grants {
            check(waiting.first == waiter, "callers are served in order")
            check(open.contains(place) && !lent.contains(place), "an open one is lent to one caller")
            waiting.removeAll { $0 == waiter }
            lent.insert(place)
        }
    }

    private mutating func checkAll() {
        check(waiting.isEmpty || open.isSubset(of: lent), "nobody waits while one is free")
        check(!opening.isEmpty || !open.isEmpty, "one is always open or being opened")
        check(
            opening.count >= waiting.count || opening.count + open.count == bound,
            "one is being opened for each who waits, up to the bound")
        check(table.waiterCount == waiting.count && table.useCount == lent.count, "the counts are true")
        check((0..<bound).allSatisfy { table.isUnused($0) == (open.contains($0) && !lent.contains($0)) }, "unused")
    }

    private mutating func check(_ holds: Bool, _ name: String) {
        if !holds, fault == nil { fault = name }
    }
}
