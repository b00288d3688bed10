// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkTestSupport

@testable import TidemarkService

/// Subscriptions that other servers have saved, and of which this one hears later than of a change.
@Suite struct QueryWatchesNewcomersTests {
    private static let database = QueryWatchesTests.database

    /// Those that may have missed something.
    private static func told(_ work: QueryWatches.QueryWork?) -> [String] {
        guard let work, let missable = work.missable, case .some(let index) = work.known else { return [] }
        return index.slices(where: missable.mayConcern).joined().filter(missable.mayBeMissed)
            .map(\.subscription.id).sorted()
    }

    private static func known(_ subscriptions: [(String, String)]) -> QueryWatches.Known {
        .some(QueryIndex(subscriptions.map { id, type in QueryWatchesTests.watching(id, type: type) }))
    }

    /// What is known at the time zero, and nothing has passed.
    private static func watches(knowing known: QueryWatches.Known) throws -> QueryWatches {
        var watches = QueryWatches()
        #expect(watches.written([try QueryWatchesTests.zone()], now: .zero).mustRead)
        #expect(Self.told(try Self.read(&watches, known)) == [], "the read has begun after the change")
        return watches
    }

    /// Reads, and evaluates what has waited for it.
    private static func read(
        _ watches: inout QueryWatches, _ known: QueryWatches.Known, at now: Duration = .zero
    ) throws -> QueryWatches.QueryWork? {
        let wanted = try #require(watches.takeWanted(1).first)
        let work = watches.read(wanted.database, known, generation: wanted.generation, now: now)
        if work != nil, case .nothing = watches.done(database, now: now) { return work }
        Issue.record("it does not come to rest")
        return work
    }

    @Test func `R-265: those that are new when a notice comes are told of what has passed, by type`() throws {
        for before in [.none, Self.known([("old", "Note"), ("others", "Other")])] as [QueryWatches.Known] {
            var watches = try Self.watches(knowing: before)
            let isKnown = if case .some = before { true } else { false }
            // It is passed over, or evaluated without the new ones.
            let passed = watches.written([try QueryWatchesTests.zone(["b"])], now: .zero)
            #expect(passed.work.count == (isKnown ? 1 : 0) && !passed.mustRead)
            if isKnown { _ = watches.done(Self.database, now: .zero) }
            #expect(watches.changed(Self.database) == true, "it is read at once")
            #expect(watches.changed(Self.database) == false, "and not twice")
            let all = [("new", "Note"), ("newer", "Else")] + (isKnown ? [("old", "Note"), ("others", "Other")] : [])
            #expect(Self.told(try Self.read(&watches, Self.known(all))) == ["new"])
            // Nothing has passed since.
            #expect(watches.changed(Self.database) == false)
        }
    }

    @Test func `R-265: one that was saved again with another query is new, and one that has fired and was saved again`()
        throws
    {
        var watches = try Self.watches(knowing: Self.known([("a", "Note"), ("b", "Note"), ("c", "Note")]))
        _ = watches.written([try QueryWatchesTests.zone()], now: .zero)
        watches.ended(QueryWatchesTests.watching("b").key, of: Self.database)
        _ = watches.done(Self.database, now: .zero)
        let query = SubscriptionQuery(
            database: Self.database, predicate: .always(false), options: .changes, predicateBytes: [])
        let other = Subscription(
            id: "c", scope: .private, kind: .query, recordType: "Note", notificationInfo: [], query: query)
        #expect(watches.changed(Self.database) == true)
        let index = QueryIndex([
            QueryWatchesTests.watching("a"), QueryWatchesTests.watching("b"),
            WatchingSubscription(user: UserID(1), container: ContainerID(1), subscription: other),
        ])
        #expect(Self.told(try Self.read(&watches, .some(index))) == ["b", "c"])
    }

    @Test func `R-265: whoever saves at this server is told by it anyway`() throws {
        var watches = try Self.watches(knowing: .none)
        _ = watches.written([try QueryWatchesTests.zone()], now: .zero)
        let (mine, others) = (QueryWatchesTests.watching("mine"), QueryWatchesTests.watching("others"))
        watches.saved([mine.subscription], by: mine.user)
        #expect(watches.changed(Self.database) == true)
        #expect(Self.told(try Self.read(&watches, .some(QueryIndex([mine, others])))) == ["others"])
    }

    @Test func `R-265: what comes while they are read may be missed by those that this read does not find`() throws {
        var watches = try Self.watches(knowing: .none)
        watches.changed(Self.database)
        #expect(watches.written([try QueryWatchesTests.zone(["a"])], now: .zero).mustRead)
        let wanted = try #require(watches.takeWanted(1).first)
        // The store has answered, and somebody subscribes.
        #expect(!watches.written([try QueryWatchesTests.zone(["b"])], now: .zero).mustRead)
        let work = watches.read(Self.database, .none, generation: wanted.generation, now: .zero)
        #expect(work?.written.count == 2 && Self.told(work) == [])
        watches.changed(Self.database)
        guard case .read = watches.done(Self.database, now: .zero) else {
            Issue.record("it is not read again")
            return
        }
        #expect(Self.told(try Self.read(&watches, Self.known([("new", "Note")]))) == ["new"])
    }

    @Test func `R-265, I-4: if no notice comes it is looked half a minute after the change, and once`() throws {
        var watches = try Self.watches(knowing: .none)
        #expect(watches.sweep(now: .seconds(100)) == false, "nothing has passed")
        _ = watches.written([try QueryWatchesTests.zone()], now: .seconds(10))
        #expect(watches.sweep(now: .seconds(40)) == false)
        #expect(watches.sweep(now: .milliseconds(40_001)) == true)
        #expect(watches.sweep(now: .seconds(41)) == false)
        #expect(Self.told(try Self.read(&watches, Self.known([("new", "Note")]), at: .seconds(41))) == ["new"])
        #expect(watches.sweep(now: .seconds(1_000)) == false)
    }

    @Test func `R-265, I-4: after a gap all databases are read in which something has passed`() throws {
        var watches = QueryWatches()
        for number in 1...3 as ClosedRange<Int64> {
            for _ in 0..<Int(number) {
                _ = watches.written([try QueryWatchesTests.zone(in: DatabaseID(number))], now: .zero)
                for wanted in watches.takeWanted(1) {
                    _ = watches.read(wanted.database, .none, generation: wanted.generation, now: .zero)
                    _ = watches.done(wanted.database, now: .zero)
                }
            }
        }
        #expect(watches.changedAll() == true)
        #expect(watches.takeWanted(9).map(\.database) == [DatabaseID(2), DatabaseID(3)])
    }

    @Test func `R-265, I-7: an index that has no room leaves what those that are new are found by`() throws {
        var watches = QueryWatches(indexBytesMax: 1_200)
        for number in 1...3 as ClosedRange<Int64> {
            let database = DatabaseID(number)
            for _ in 0..<2 {
                _ = watches.written([try QueryWatchesTests.zone(in: database)], now: .zero)
                for wanted in watches.takeWanted(1) {
                    let known = QueryWatchesTests.some("old")
                    _ = watches.read(wanted.database, known, generation: wanted.generation, now: .zero)
                }
                _ = watches.done(database, now: .zero)
            }
        }
        for number in 1...3 as ClosedRange<Int64> {
            #expect(watches.changed(DatabaseID(number)) == true)
            let wanted = try #require(watches.takeWanted(1).first)
            let known = QueryWatchesTests.some("old", "new")
            #expect(
                Self.told(watches.read(wanted.database, known, generation: wanted.generation, now: .zero)) == ["new"])
            _ = watches.done(wanted.database, now: .zero)
        }
    }

    /// All have room in memory, or none, or now these and now those.
    @Test(arguments: 1...300 as ClosedRange<UInt64>)
    func `R-265, R-280: whatever comes when, no subscription misses a change that came after it`(_ seed: UInt64) throws
    {
        var history = QueryWatchesHistory(seed: seed)
        for _ in 0..<150 { try history.step() }
        try history.comeToRest()
        #expect(history.missed.isEmpty, "\(history.missed)")
    }
}

/// One database in the store, where servers save and delete subscriptions, and a server that writes there and hears of them late.
/// It knows what each subscription must be told.
private struct QueryWatchesHistory {
    private static let types = ["Note", "Item", "Other"]

    private var watches = QueryWatches()
    private var random: SeededRandom
    private var now = Duration.zero
    private var recordCount = 0
    private var version = 0
    private var stored: [String: WatchingSubscription] = [:]
    /// Subscriptions have changed, and the server has not heard of it.
    private var isUnheard = false
    /// How many of four reads find that they are too many for memory.
    private let largeCount: Int
    /// What the read that is under way has found.
    private var reading: (wanted: QueryWatches.Wanted, found: [WatchingSubscription])?
    private var work: QueryWatches.QueryWork?
    /// By mark: the records that a subscription must be told of.
    private var owed: [Int: Set<String>] = [:]

    init(seed: UInt64) {
        random = SeededRandom(seed: seed)
        largeCount = [0, 4, 2][Int(seed % 3)]
    }

    /// What living subscriptions were not told.
    var missed: [String] {
        stored.values.flatMap { watching in
            (owed[Self.mark(of: watching)] ?? []).map { "\($0) by \(watching.subscription.id)" }
        }
    }

    private static func mark(of watching: WatchingSubscription) -> Int {
        QueryIndex.mark(of: watching.subscription, by: watching.user)
    }

    mutating func step() throws {
        switch Int.random(in: 0..<10, using: &random) {
        case 0, 1: subscribe()
        case 2, 3, 4: try write()
        case 5, 6: read()
        case 7: evaluate()
        case 8: hear()
        default:
            now += .seconds(Int.random(in: 0...20, using: &random))
            _ = watches.sweep(now: now)
        }
    }

    mutating func comeToRest() throws {
        for _ in 0..<20 {
            hear()
            read()
            read()
            evaluate()
        }
        #expect(watches.isIdle)
    }

    /// At another server, or here.
    private mutating func subscribe() {
        let id = "s\(Int.random(in: 0..<6, using: &random))"
        guard Int.random(in: 0..<3, using: &random) > 0 else {
            stored[id] = nil
            isUnheard = true
            return
        }
        version += 1
        let query = SubscriptionQuery(
            database: QueryWatchesTests.database, predicate: .compare(.field("text"), .equal, .string("\(version)")),
            options: .changes, predicateBytes: [])
        let type = Self.types[Int.random(in: 0..<3, using: &random)]
        let subscription = Subscription(
            id: id, scope: .private, kind: .query, recordType: type, notificationInfo: [], query: query)
        let watching = WatchingSubscription(user: UserID(1), container: ContainerID(1), subscription: subscription)
        stored[id] = watching
        if Bool.random(using: &random) {
            isUnheard = true
        } else {
            watches.saved([subscription], by: watching.user)
            watches.changed(QueryWatchesTests.database)
            // It is told to look.
            owed[Self.mark(of: watching)] = nil
        }
    }

    private mutating func hear() {
        guard isUnheard else { return }
        isUnheard = false
        if Bool.random(using: &random) { watches.changed(QueryWatchesTests.database) } else { watches.changedAll() }
    }

    private mutating func write() throws {
        recordCount += 1
        let type = Self.types[Int.random(in: 0..<3, using: &random)]
        let name = "r\(recordCount)"
        for watching in stored.values where watching.subscription.recordType == type {
            owed[Self.mark(of: watching), default: []].insert(name)
        }
        let next = watches.written([try QueryWatchesTests.zone([name], type: type)], now: now)
        let isFree = work == nil
        #expect(next.work.isEmpty || isFree, "commits of a database are evaluated one after another")
        if let first = next.work.first { work = first }
    }

    /// A read begins, or ends.
    private mutating func read() {
        guard let (wanted, found) = reading else {
            reading = watches.takeWanted(1).first.map { ($0, Array(stored.values)) }
            return
        }
        reading = nil
        work = watches.read(wanted.database, known(found), generation: wanted.generation, now: now)
    }

    private mutating func known(_ found: [WatchingSubscription]) -> QueryWatches.Known {
        if Int.random(in: 0..<4, using: &random) < largeCount {
            return .large(WatchedTypes(Set(found.compactMap(\.subscription.recordType)), isPublic: false))
        }
        return found.isEmpty ? .none : .some(QueryIndex(found))
    }

    private mutating func evaluate() {
        guard let done = work else { return }
        work = nil
        let names = done.written.flatMap { $0.records.map(\.name) }
        for watching in looking(for: done) {
            owed[Self.mark(of: watching)]?.subtract(names)
            guard let missable = done.missable, let type = watching.subscription.recordType else { continue }
            if missable.mayConcern(type), missable.mayBeMissed(by: watching) { owed[Self.mark(of: watching)] = nil }
        }
        if case .evaluate(let more) = watches.done(QueryWatchesTests.database, now: now) { work = more }
    }

    /// The subscriptions that are known, or that are read now.
    private func looking(for work: QueryWatches.QueryWork) -> [WatchingSubscription] {
        switch work.known {
        case .none: []
        case .some(let index): Array(index.slices().joined())
        case .large(let watched):
            stored.values.filter { watching in
                watching.subscription.recordType.map { work.types(of: watched)?.contains($0) ?? true } ?? false
            }
        }
    }
}
