// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkFields

@testable import TidemarkService

@Suite struct QueryWatchesTests {
    static let database = DatabaseID(7)

    static func watching(_ id: String, type: String = "Note") -> WatchingSubscription {
        WatchingSubscription(
            user: UserID(1), container: ContainerID(1),
            subscription: Subscription(
                id: id, scope: .private, kind: .query, recordType: type, notificationInfo: [],
                query: SubscriptionQuery(
                    database: database, predicate: .always(true), options: .changes, predicateBytes: [])))
    }

    static func zone(
        _ names: [String] = ["a"], type: String = "Note", in database: DatabaseID = database, bytes: Int = 0
    ) throws -> WrittenZone {
        let fields = try FieldMap(
            [Field("data", .bytes(Array(repeating: 0, count: bytes)))], limits: .init(byteCountMax: .max))
        let records = names.map {
            RecordState(
                name: $0, type: type, fields: fields, changeNumber: 1, isDeleted: false, parent: nil,
                createdAt: Timestamp(milliseconds: 1), createdBy: UserID(1), createdByDevice: .nobody,
                modifiedAt: Timestamp(milliseconds: 1), modifiedBy: UserID(1), batchEnd: 1)
        }
        return WrittenZone(
            key: ZoneKey(database: database, name: "notes"), records: records, replaced: [])
    }

    static func some(_ ids: String...) -> QueryWatches.Known { .some(QueryIndex(ids.map { watching($0) })) }

    /// What a read brings, as names of records.
    private func names(_ work: QueryWatches.QueryWork?) -> [String]? {
        work?.written.flatMap { $0.records.map(\.name) }
    }

    /// Reads what is wanted.
    private func read(
        _ watches: inout QueryWatches, _ known: QueryWatches.Known, at now: Duration = .zero
    ) -> QueryWatches.QueryWork? {
        guard let wanted = watches.takeWanted(1).first else { return nil }
        return watches.read(wanted.database, known, generation: wanted.generation, now: now)
    }

    /// The same, and evaluates it. Nothing has been written meanwhile.
    private func carryOut(
        _ watches: inout QueryWatches, _ known: QueryWatches.Known, at now: Duration = .zero
    ) -> QueryWatches.QueryWork? {
        let work = read(&watches, known, at: now)
        guard let work, case .nothing = watches.done(work.database, now: now) else { return nil }
        return work
    }

    @Test func `R-847: what is written waits until the subscriptions are known, and is then evaluated in order`() throws
    {
        var watches = QueryWatches()
        #expect(watches.written([try Self.zone(["a"])], now: .zero).mustRead)
        // One read at a time.
        #expect(!watches.written([try Self.zone(["b"])], now: .zero).mustRead)
        #expect(names(carryOut(&watches, Self.some("s"))) == ["a", "b"])
        #expect(watches.takeWanted(10).isEmpty)
        let next = watches.written([try Self.zone(["c"]), try Self.zone(["d"], type: "Other")], now: .seconds(30))
        #expect(!next.mustRead)
        #expect(next.work.map { names($0) } == [["c"]])
        // What comes meanwhile waits, so that pushes keep their order.
        let last = watches.written([try Self.zone(["e"])], now: .seconds(30))
        #expect(last.work.isEmpty && !last.mustRead)
        guard case .evaluate(let rest) = watches.done(Self.database, now: .seconds(30)) else {
            Issue.record("what has waited is not evaluated")
            return
        }
        #expect(names(rest) == ["d", "e"])
        guard case .nothing = watches.done(Self.database, now: .seconds(30)) else {
            Issue.record("it does not come to rest")
            return
        }
    }

    @Test func `R-847: a database without query subscriptions is looked up, and read again after half a minute`() throws
    {
        var watches = QueryWatches()
        #expect(watches.written([try Self.zone()], now: .zero).mustRead)
        #expect(names(carryOut(&watches, .none)) == ["a"])
        for second in 0...30 {
            let next = watches.written([try Self.zone()], now: .seconds(second))
            #expect(next.work.isEmpty && !next.mustRead)
        }
        #expect(watches.written([try Self.zone(["late"])], now: .milliseconds(30_001)).mustRead)
        #expect(names(read(&watches, Self.some("s"), at: .seconds(31))) == ["late"])
    }

    @Test func `R-847: subscriptions that change while they are read are read again, and nothing is lost`() throws {
        var watches = QueryWatches()
        #expect(watches.written([try Self.zone(["a"])], now: .zero).mustRead)
        let wanted = watches.takeWanted(10)
        watches.changed(Self.database)
        #expect(!watches.written([try Self.zone(["later"])], now: .zero).mustRead)
        // What was written before the read began needs no newer one.
        let first = watches.read(Self.database, .none, generation: wanted[0].generation, now: .zero)
        #expect(names(first) == ["a"])
        guard case .read = watches.done(Self.database, now: .zero) else {
            Issue.record("what was written after a change of the subscriptions is evaluated without it")
            return
        }
        #expect(names(carryOut(&watches, Self.some("s"))) == ["later"])
        watches.changed(Self.database)
        #expect(watches.written([try Self.zone(["b"])], now: .zero).mustRead)
        // Also if they change while something is evaluated.
        #expect(names(read(&watches, Self.some("s"))) == ["b"])
        watches.changed(Self.database)
        #expect(!watches.written([try Self.zone(["c"])], now: .zero).mustRead)
        guard case .read = watches.done(Self.database, now: .zero) else {
            Issue.record("they are not read again")
            return
        }
        #expect(names(carryOut(&watches, Self.some("s"))) == ["c"])
    }

    @Test func `R-847: changes are evaluated however often the subscriptions change`() throws {
        var watches = QueryWatches()
        var seen: [String] = []
        #expect(watches.written([try Self.zone(["r0"])], now: .zero).mustRead)
        for number in 1...100 {
            let wanted = try #require(watches.takeWanted(1).first)
            // Each read is old when it ends.
            watches.changed(Self.database)
            #expect(!watches.written([try Self.zone(["r\(number)"])], now: .zero).mustRead)
            seen += names(watches.read(Self.database, Self.some("s"), generation: wanted.generation, now: .zero)) ?? []
            guard case .read = watches.done(Self.database, now: .zero) else {
                Issue.record("what came meanwhile is not read for")
                return
            }
        }
        #expect(seen == (0..<100).map { "r\($0)" })
    }

    @Test func `R-847: a loss is told also to those who subscribed before it and are not known yet`() throws {
        var watches = QueryWatches(waitingBytesMax: 4_000)
        #expect(watches.written([try Self.zone(["a"])], now: .zero).mustRead)
        let wanted = watches.takeWanted(1)
        watches.changed(Self.database)
        _ = watches.written([try Self.zone(["b"], bytes: 6_000)], now: .zero)
        let first = watches.read(Self.database, .none, generation: wanted[0].generation, now: .zero)
        #expect(names(first) == ["a"] && first?.hasLost == true)
        guard case .read = watches.done(Self.database, now: .zero) else {
            Issue.record("the loss is forgotten")
            return
        }
        #expect(carryOut(&watches, Self.some("s"))?.hasLost == true)
    }

    @Test func `R-847: what failed is read again with what came meanwhile`() throws {
        var watches = QueryWatches()
        #expect(watches.written([try Self.zone(["a"])], now: .zero).mustRead)
        #expect(watches.startsReading() == true)
        let wanted = watches.takeWanted(10)
        #expect(wanted.count == 1)
        watches.changed(Self.database)
        #expect(!watches.written([try Self.zone(["b"])], now: .zero).mustRead)
        // It is not read by others meanwhile.
        #expect(watches.takeWanted(10).isEmpty)
        #expect(watches.startsReading() == false)
        let again = watches.again(wanted)
        #expect(again.count == 1 && again[0].generation > wanted[0].generation)
        let work = watches.read(Self.database, Self.some("s"), generation: again[0].generation, now: .zero)
        #expect(names(work) == ["a", "b"])
    }

    @Test func `R-847: one reads for all, and takes what comes meanwhile together`() throws {
        var watches = QueryWatches()
        #expect(watches.startsReading() == false)
        _ = watches.written([try Self.zone(in: DatabaseID(1))], now: .zero)
        #expect(watches.startsReading() == true)
        #expect(watches.takeWanted(10).count == 1)
        for number in 2...5 as ClosedRange<Int64> {
            _ = watches.written([try Self.zone(in: DatabaseID(number))], now: .zero)
            #expect(watches.startsReading() == false)
        }
        #expect(watches.takeWanted(10).map(\.database) == (2...5).map { DatabaseID($0) })
        #expect(watches.takeWanted(10).isEmpty)
        _ = watches.written([try Self.zone(in: DatabaseID(6))], now: .zero)
        #expect(watches.startsReading() == true)
    }

    @Test func `I-7: of too much that waits it is only known that something has changed`() throws {
        var watches = QueryWatches(waitingBytesMax: 40_000)
        _ = watches.written([try Self.zone(["a"], bytes: 6_000)], now: .zero)
        _ = watches.written([try Self.zone(["b"], bytes: 6_000)], now: .zero)
        // Another database has room of its own.
        let other = DatabaseID(8)
        _ = watches.written([try Self.zone(["c"], in: other, bytes: 6_000)], now: .zero)
        let first = carryOut(&watches, Self.some("s"))
        #expect(names(first) == ["a"] && first?.hasLost == true)
        let second = carryOut(&watches, Self.some("s"))
        #expect(names(second) == ["c"] && second?.hasLost == false)
        // What was taken makes room.
        watches.changed(Self.database)
        _ = watches.written([try Self.zone(["d"], bytes: 6_000)], now: .zero)
        #expect(read(&watches, Self.some("s"))?.hasLost == false)
    }

    @Test func `I-7: what is evaluated is in memory as well`() throws {
        var watches = QueryWatches(waitingBytesMax: 40_000)
        let databases = (1...9).map { DatabaseID($0) }
        for database in databases {
            _ = watches.written([try Self.zone(in: database)], now: .zero)
            _ = carryOut(&watches, Self.some("s"))
        }
        // A slow store keeps them all.
        var works: [QueryWatches.QueryWork] = []
        for database in databases {
            works += watches.written([try Self.zone(in: database, bytes: 6_000)], now: .zero).work
        }
        #expect(works.map(\.database) == Array(databases.prefix(6)))
        for work in works {
            guard case .nothing = watches.done(work.database, now: .zero) else {
                Issue.record("it does not come to rest")
                return
            }
        }
        // The others are told to look.
        for database in databases.suffix(3) {
            let work = carryOut(&watches, Self.some("s"))
            #expect(work?.database == database && work?.hasLost == true)
        }
        // A single one is evaluated, however large.
        let large = watches.written([try Self.zone(in: databases[0], bytes: 60_000)], now: .zero)
        #expect(large.work.count == 1)
    }

    @Test func `I-7: an index that has no room for another one is read again`() throws {
        var watches = QueryWatches(indexBytesMax: 1_200)
        let databases = (1...3).map { DatabaseID($0) }
        for database in databases {
            #expect(watches.written([try Self.zone(in: database)], now: .zero).mustRead)
            #expect(carryOut(&watches, Self.some("s")) != nil)
        }
        let again = try databases.map { watches.written([try Self.zone(in: $0)], now: .zero).mustRead }
        #expect(again.last == false && again.contains(true))
    }

    private static func large(_ types: Set<String>) -> QueryWatches.Known {
        .large(WatchedTypes(types, isPublic: true))
    }

    @Test func `R-847: the many of a large database are read once at a time for what came meanwhile`() throws {
        var watches = QueryWatches()
        #expect(watches.written([try Self.zone(["a"])], now: .zero).mustRead)
        #expect(names(read(&watches, Self.large(["Note"]))) == ["a"])
        for name in ["b", "c"] { #expect(!watches.written([try Self.zone([name])], now: .zero).mustRead) }
        #expect(watches.takeWanted(10).isEmpty)
        guard case .evaluate(let more) = watches.done(Self.database, now: .zero) else {
            Issue.record("they are not read for what came meanwhile")
            return
        }
        #expect(names(more) == ["b", "c"] && more.types(of: WatchedTypes(["Note"], isPublic: true)) == ["Note"])
        guard case .nothing = watches.done(Self.database, now: .zero) else {
            Issue.record("it does not come to rest")
            return
        }
        #expect(watches.written([try Self.zone(["d"])], now: .zero).work.count == 1)
    }

    @Test func `R-280: a change of a type at which none of very many subscriptions looks reads nothing`() throws {
        var watches = QueryWatches()
        #expect(watches.written([try Self.zone()], now: .zero).mustRead)
        #expect(carryOut(&watches, Self.large(["Note", "Item"])) != nil)
        let other = watches.written([try Self.zone(type: "Other")], now: .seconds(30))
        #expect(other.work.isEmpty && !other.mustRead && other.silent.count == 1)
        let item = watches.written([try Self.zone(type: "Item")], now: .seconds(30))
        #expect(item.work.count == 1 && !item.mustRead && item.silent.isEmpty)
        _ = watches.done(Self.database, now: .seconds(30))
        // Somebody subscribes. That they are too many stays known.
        #expect(watches.changed(Self.database) == true, "who looks at the other type may have missed it")
        let wanted = try #require(watches.takeWanted(1).first)
        #expect(wanted.isLarge)
        let types = WatchedTypes(["Note", "Item", "Other"], isPublic: true)
        let work = watches.read(Self.database, .large(types), generation: wanted.generation, now: .seconds(30))
        #expect(work?.types(of: types) == ["Other"], "the others have missed nothing")
        _ = watches.done(Self.database, now: .seconds(30))
        #expect(watches.changed(Self.database) == false, "nothing has passed")
        #expect(watches.written([try Self.zone(type: "Else")], now: .seconds(30)).mustRead)
        #expect(watches.takeWanted(1).first?.isLarge == true)
    }

    @Test func `R-280, I-7: of more types than there is room for each change reads`() throws {
        let many = Set((0...WatchedTypes.countMax).map { "T\($0)" })
        for (types, isKnown) in [(many, false), (Set(many.prefix(WatchedTypes.countMax)), true)] {
            var watches = QueryWatches()
            #expect(watches.written([try Self.zone()], now: .zero).mustRead)
            #expect(carryOut(&watches, Self.large(types)) != nil)
            #expect(watches.written([try Self.zone(type: "Other")], now: .zero).work.isEmpty == isKnown)
        }
        let long = Set((0..<2_000).map { String(repeating: "x", count: 1_000) + "\($0)" })
        #expect(WatchedTypes(long, isPublic: false).names == nil)
    }

    @Test func `R-246: one that has ended by its push fires no more until they are read again`() throws {
        var watches = QueryWatches()
        _ = watches.written([try Self.zone()], now: .zero)
        _ = carryOut(&watches, Self.some("s"))
        watches.ended(Self.watching("s").key, of: Self.database)
        let next = watches.written([try Self.zone()], now: .zero)
        #expect(next.work.first?.ended == [Self.watching("s").key])
    }
}
