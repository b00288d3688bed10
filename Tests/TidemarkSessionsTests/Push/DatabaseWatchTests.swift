// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkFields

@testable import TidemarkSessions

/// What is known of one database, alone: no store, no session.
@Suite struct DatabaseWatchTests {
    private static let all = Subscription(
        id: "all", scope: .private, kind: .database, recordType: nil, notificationInfo: [])

    @Test func `R-249, I-4: a read of subscriptions that ends late takes nothing back`() {
        var watch = DatabaseWatch(user: UserID(1), account: AccountID(1), since: .seconds(10))
        // It began for an earlier session, which has left since; what was subscribed meanwhile is not in it.
        watch.knows([], at: .seconds(9))
        #expect(watch.subscriptions == nil && watch.needsSubscriptions(now: .seconds(10), ageMax: nil))
        watch.knows([Self.all], at: .seconds(10))
        #expect(watch.subscriptions == [Self.all] && watch.wantsPushes)
        watch.knows([Self.all], at: .seconds(12))
        watch.knows([], at: .seconds(11))
        #expect(watch.subscriptions == [Self.all])
        #expect(watch.needsSubscriptions(now: .seconds(14), ageMax: .seconds(1)))
        watch.knows([], at: .seconds(14))
        #expect(watch.subscriptions == [] && !watch.wantsPushes)
    }

    @Test func `R-253: who has missed pushes of queries alone is told of these alone, and of both together`() {
        let query = Subscription(id: "q", scope: .private, kind: .query, recordType: "Note", notificationInfo: [])
        var watch = DatabaseWatch(user: UserID(1), account: AccountID(1), since: .zero)
        for number in UInt64(1)...4 { watch.join(number, DeviceID(high: 0, low: number)) }
        watch.tell([1, 2], .queries)
        // What is due waits until the subscriptions are known.
        let early = watch.takeDue()
        #expect(watch.isDue && early.isEmpty)
        watch.knows([Self.all, query], at: .seconds(1))
        watch.tell([2, 3], .changes)
        watch.tell([4, 9])
        let due = watch.takeDue().map { ($0.sessions, $0.subscriptions.map(\.id)) }
        #expect(due.map(\.0) == [[2, 4], [3], [1]])
        #expect(due.map(\.1) == [["all", "q"], ["all"], ["q"]])
        #expect(!watch.isDue)
    }

    @Test func `I-7: of many lives that write no more is kept than that there are several`() {
        var watch = DatabaseWatch(user: UserID(1), account: AccountID(1), since: .zero)
        let lives = (1...1_000).map { DeviceID(high: 0, low: $0) }
        for (number, life) in zip(1..., lives.prefix(3)) { watch.join(UInt64(number), life) }
        watch.knows([Self.all], at: .seconds(1))
        for life in lives { watch.moved("Notes", by: life) }
        #expect(watch.causes.count == 2 && watch.moved.mapValues(\.count) == ["Notes": 2])
        #expect(watch.takeMoved().map(\.sessions) == [[1, 2, 3]])
        // The database is quiet: nobody was the only one to write.
        _ = watch.swept(7) { _ in false }
        #expect(watch.swept(7) { _ in false } == [1, 2, 3])
    }

    /// All histories of a few steps in which one device writes here, and notices of another server come or are lost.
    @Test func `R-248, R-764: whoever wrote alone is told by the sweep if and only if something else may have changed`()
    {
        enum Step: CaseIterable { case own, heard, lost, sweep }
        let (writer, other) = (DeviceID(high: 1, low: 1), DeviceID(high: 2, low: 2))
        func histories(_ length: Int) -> [[Step]] {
            guard length > 0 else { return [[]] }
            return histories(length - 1).flatMap { history in Step.allCases.map { history + [$0] } }
        }
        for history in histories(6) {
            var watch = DatabaseWatch(user: UserID(1), account: AccountID(1), since: .zero)
            watch.join(1, writer)
            var mark: Int64 = 10
            watch.starts(at: mark)
            var owesOther = false
            var wroteAlone = true
            func take(_ told: [UInt64]) { if told.contains(1) { owesOther = false } }
            for step in history {
                switch step {
                case .own:
                    mark += 3
                    watch.moved("a", by: writer)
                    watch.grew(by: 3)
                    take(watch.takeMoved().flatMap(\.sessions))
                case .heard:
                    mark += 1
                    watch.moved("a", by: other)
                    watch.grew(by: nil)
                    take(watch.takeMoved().flatMap(\.sessions))
                    wroteAlone = false
                case .lost:
                    mark += 1
                    owesOther = true
                    wroteAlone = false
                case .sweep: take(watch.swept(mark) { _ in false })
                }
            }
            // The database comes to rest.
            let told = (0..<3).flatMap { _ in watch.swept(mark) { _ in false } }
            take(told)
            #expect(!owesOther, "\(history)")
            if wroteAlone { #expect(told.isEmpty, "\(history)") }
        }
    }

    @Test func `R-739, I-4: without a mark at the start the next sweep tells everyone, whatever is read later`() {
        for isNoticed in [false, true] {
            var watch = watch(1, 2)
            watch.startsUnknown()
            #expect(watch.hasMark, "whoever comes later reads none in its place")
            watch.starts(at: 10)
            if isNoticed {
                watch.moved("a", by: DeviceID(high: 0, low: 1))
                watch.grew(by: 1)
                _ = watch.swept(11) { _ in false }
            }
            #expect(watch.swept(isNoticed ? 11 : 10) { _ in false } == [1, 2])
            let rest = watch.swept(isNoticed ? 11 : 10) { _ in false }
            #expect(rest.isEmpty)
        }
        var known = watch(1)
        known.starts(at: 10)
        known.startsUnknown()
        let told = known.swept(10) { _ in false }
        #expect(told.isEmpty, "its mark is as good as any")
    }

    @Test func `R-739: until a sweep counts them, each change of the zones may have made as many as one can`() {
        var watch = watch(1)
        let maker = DeviceID(high: 0, low: 1)
        watch.moved("", by: maker)
        #expect(watch.zoneCount == nil && watch.lastSweep == 0)
        watch.counted(zones: 5)
        watch.moved("a", by: maker)
        #expect(watch.zoneCount == 5)
        for _ in 0..<2 { watch.moved("", by: maker) }
        #expect(watch.zoneCount == 805)
        for _ in 0..<100 { watch.moved("", by: maker) }
        #expect(watch.zoneCount == SweepPlan.zonesPerStep)
        watch.counted(zones: SweepPlan.zonesPerStep + 7, bySweep: 3)
        watch.moved("", by: maker)
        #expect(watch.zoneCount == SweepPlan.zonesPerStep + 7 && watch.lastSweep == 3)
    }

    // MARK: Shared databases

    private static let shared = Subscription(
        id: "shared", scope: .shared, kind: .database, recordType: nil, notificationInfo: [])

    /// A shared database whose list is still to be read.
    private func sharedWatch(_ sessions: UInt64...) -> DatabaseWatch {
        var watch = DatabaseWatch(user: UserID(1), account: AccountID(1), scope: .shared, since: .zero)
        for session in sessions { watch.join(session, DeviceID(high: 0, low: session)) }
        watch.knows([Self.all, Self.shared], at: .zero)
        return watch
    }

    @Test func `R-253, R-334: what is due waits until the list was read, and is then one push for each device`() {
        var watch = sharedWatch(1, 2, 3)
        watch.awaitList()
        watch.tell([2] as [UInt64])
        watch.sharedZoneMoved(by: DeviceID(high: 0, low: 9))
        watch.movedIsDue()
        let early = watch.takeDue()
        #expect(early.isEmpty && watch.isDue)
        watch.starts(at: 5)
        watch.listRead()
        let due = watch.takeDue()
        #expect(due.map(\.sessions) == [[1, 2, 3]] && due.map(\.subscriptions) == [[Self.shared]])
        #expect(due.map(\.zoneNames) == [[]])
        let rest = watch.takeDue()
        #expect(rest.isEmpty)
    }

    @Test func `I-4: a list that changes while it is read is awaited again, and one that cannot be read is not`() {
        var watch = sharedWatch(1)
        watch.awaitList()
        watch.starts(at: 5)
        watch.listChanged(at: .seconds(1))
        watch.listRead()
        #expect(watch.awaitsList && !watch.hasMark && watch.mayHaveOtherSubscriptions)
        watch.listFailed()
        let due = watch.takeDue()
        #expect(due.map(\.sessions) == [[1]])
        // The next sweep finds out, whatever it finds.
        #expect(watch.isSurprised(by: 5) && watch.isSurprised(by: 0))
        let told = watch.swept(5) { _ in false }
        #expect(told == [1])
    }

    @Test func `I-4: subscriptions that were read before a notice are read again`() {
        var watch = sharedWatch(1)
        watch.knows([], at: .seconds(1))
        watch.listChanged(at: .seconds(5))
        watch.knows([], at: .seconds(4))
        #expect(watch.mayHaveOtherSubscriptions && !watch.wantsPushes)
        watch.knows([Self.shared], at: .seconds(5))
        #expect(!watch.mayHaveOtherSubscriptions && watch.wantsPushes)
    }

    @Test func `I-4: the sweep looks for another list if the mark changed without a notice`() {
        var watch = sharedWatch(1)
        #expect(!watch.isSurprised(by: 7), "nothing to compare with")
        watch.starts(at: 7)
        #expect(watch.isSurprised(by: 8) && !watch.isSurprised(by: 7))
        watch.sharedZoneMoved(by: DeviceID(high: 0, low: 2))
        #expect(!watch.isSurprised(by: 8))
        var own = self.watch(1)
        own.starts(at: 7)
        #expect(!own.isSurprised(by: 8), "a private database has no list")
    }

    @Test func `R-248, R-764: who alone wrote in a shared database is told once when it is quiet`() {
        var watch = sharedWatch(1, 2)
        watch.starts(at: 5)
        watch.listRead()
        _ = watch.takeDue()
        let writer = RecordAccess(scope: .shared, user: UserID(1)).marking(DeviceID(high: 0, low: 1))
        for mark in 6...8 as ClosedRange<Int64> {
            watch.sharedZoneMoved(by: writer)
            watch.movedIsDue()
            let due = watch.takeDue()
            let told = watch.swept(mark) { _ in false }
            #expect(due.map(\.sessions) == [[2]] && told.isEmpty)
        }
        let quiet = (0..<3).map { _ in watch.swept(8) { _ in false } }
        #expect(quiet == [[1, 2], [], []])
    }

    @Test func `R-507: the last push of a subscription does not wait for a list that nobody wants`() {
        var watch = sharedWatch(1, 2)
        watch.knows([], at: .seconds(1))
        watch.forgetList()
        watch.tellOfEnds([Self.shared], by: 1)
        let due = watch.takeDue()
        #expect(due.map(\.sessions) == [[2]] && watch.awaitsList)
    }

    // MARK: What gathers

    private func watch(_ sessions: UInt64...) -> DatabaseWatch {
        var watch = DatabaseWatch(user: UserID(1), account: AccountID(1), since: .zero)
        for session in sessions { watch.join(session, DeviceID(high: 0, low: session)) }
        watch.knows([Self.all], at: .zero)
        return watch
    }

    @Test func `R-253: what became due while pushes wait is one push, in its order`() {
        var watch = watch(1, 2, 3)
        let nothing = watch.takeDue()
        #expect(nothing.isEmpty)
        let maker = DeviceID(high: 0, low: 1)
        for zone in ["b", "a", "b"] { watch.moved(zone, by: maker) }
        let early = watch.takeDue()
        #expect(early.isEmpty, "the subscriptions may still be read")
        watch.movedIsDue()
        for _ in 0..<3 { watch.tell([3, 1, 9] as [UInt64]) }
        let gone = Subscription(id: "gone", scope: .private, kind: .database, recordType: nil, notificationInfo: [])
        watch.tellOfEnds([gone], by: 2)
        let due = watch.takeDue()
        #expect(due.map(\.sessions) == [[2, 3], [1, 3], [1, 3]])
        #expect(due.map(\.zoneNames) == [["a", "b"], [], []])
        #expect(due.map(\.subscriptions) == [[Self.all], [Self.all], [gone]])
        let rest = watch.takeDue()
        #expect(rest.isEmpty)
        // Two sessions ended some: each hears of the other's.
        watch.tellOfEnds([gone], by: 2)
        watch.tellOfEnds([gone], by: 3)
        let ends = watch.takeDue()
        #expect(ends.map(\.sessions) == [[1, 2, 3]])
        #expect(ends.map(\.subscriptions) == [[gone]])
    }

    private static let narrowed = Subscription(
        id: "notes", scope: .private, kind: .database, recordType: "Note", notificationInfo: [])

    /// The subscriptions that fire when all that is due is taken, by session.
    private func fired(_ watch: inout DatabaseWatch) -> [UInt64: [String]] {
        var fired: [UInt64: [String]] = [:]
        for group in watch.takeDue() {
            let ids = group.subscriptions.filter {
                $0.zonesPushed(ofMoved: group.zoneNames, types: group.types) != nil
            }.map(\.id)
            for session in group.sessions where !ids.isEmpty { fired[session, default: []] += ids }
        }
        return fired
    }

    @Test func `R-262: changes that wait for their push are of all types that one of them has`() {
        let (writer, task) = (DeviceID(high: 0, low: 1), Self.types("Task"))
        var watch = watch(1, 2)
        watch.knows([Self.all, Self.narrowed], at: .zero)
        watch.moved("a", by: writer, types: task)
        watch.movedIsDue()
        let told1 = fired(&watch)
        #expect(told1 == [2: ["all"]])
        for last in [Self.types("Note"), .any] {
            watch.moved("a", by: writer, types: task)
            watch.moved("b", by: writer, types: task)
            watch.moved("a", by: writer, types: last)
            watch.moved("a", by: writer, types: task)
            watch.movedIsDue()
            let told2 = fired(&watch)
            #expect(told2 == [2: ["all", "notes"]])
        }
        // What was pushed is not pushed again.
        watch.moved("a", by: writer, types: task)
        watch.movedIsDue()
        let told3 = fired(&watch)
        #expect(told3 == [2: ["all"]])
    }

    @Test func `R-262, I-7: types of few zones are known, and of very many zones all subscriptions are told`() {
        let (writer, task) = (DeviceID(high: 0, low: 1), Self.types("Task"))
        for (zoneCount, expected) in [(64, ["all"]), (65, ["all", "notes"]), (401, ["all", "notes"])] {
            var watch = watch(1, 2)
            watch.knows([Self.all, Self.narrowed], at: .zero)
            for number in 0..<zoneCount { watch.moved("z\(number)", by: writer, types: task) }
            watch.movedIsDue()
            let told4 = fired(&watch)
            #expect(told4 == [2: expected], "\(zoneCount) zones")
        }
        // They may be read later.
        var unread = DatabaseWatch(user: UserID(1), account: AccountID(1), since: .zero)
        unread.join(2, DeviceID(high: 0, low: 2))
        for number in 0..<401 { unread.moved("z\(number)", by: writer, types: task) }
        unread.knows([Self.narrowed], at: .seconds(1))
        let told5 = fired(&unread)
        #expect(told5 == [2: ["notes"]])
    }

    @Test func `R-262: a session of a shared database that is told anyway is told once`() {
        let task = Self.types("Task")
        let narrowed = Subscription(
            id: "notes", scope: .shared, kind: .database, recordType: "Note", notificationInfo: [])
        var watch = sharedWatch(1, 2)
        watch.knows([Self.shared, narrowed], at: .zero)
        watch.starts(at: 5)
        watch.listRead()
        _ = watch.takeDue()
        watch.sharedZoneMoved(by: DeviceID(high: 0, low: 9), types: task)
        watch.tell([1] as [UInt64])
        watch.movedIsDue()
        let told6 = fired(&watch)
        #expect(told6 == [1: ["notes", "shared"], 2: ["shared"]])
        watch.sharedZoneMoved(by: DeviceID(high: 0, low: 9), types: task)
        watch.sharedZoneMoved(by: DeviceID(high: 0, low: 9))
        watch.movedIsDue()
        let told7 = fired(&watch)
        #expect(told7 == [1: ["notes", "shared"], 2: ["notes", "shared"]])
    }

    /// Types of a commit that saved a record of this one.
    private static func types(_ name: String) -> ChangedTypes {
        let record = RecordState(
            name: "r", type: name, fields: FieldMap(), changeNumber: 1, isDeleted: false, parent: nil,
            createdAt: Timestamp(milliseconds: 0),
            createdBy: UserID(1), createdByDevice: .nobody, modifiedAt: Timestamp(milliseconds: 0),
            modifiedBy: UserID(1), batchEnd: 1)
        return ChangedTypes(
            of: ZoneChanges(
                database: DatabaseID(1), zone: ZoneID(1), changeNumber: 1, records: [record], memories: [:],
                clientTokensMax: 1))
    }

    @Test func `I-4: what is due before the subscriptions are known waits for them`() {
        var watch = DatabaseWatch(user: UserID(1), account: AccountID(1), since: .zero)
        for session in [1, 2] as [UInt64] { watch.join(session, DeviceID(high: 0, low: session)) }
        watch.tell([1] as [UInt64])
        watch.moved("a", by: DeviceID(high: 0, low: 2))
        watch.movedIsDue()
        let early = watch.takeDue()
        #expect(early.isEmpty)
        watch.knows([Self.all], at: .zero)
        let due = watch.takeDue()
        #expect(due.map(\.sessions) == [[1], [1]])
        #expect(due.map(\.zoneNames) == [["a"], []])
        let rest = watch.takeDue()
        #expect(rest.isEmpty)
    }

    @Test func `I-7: very many zones are told as one change, but not to a life that made all of them`() {
        var watch = watch(1, 2)
        for number in 0...400 { watch.moved("z\(number)", by: DeviceID(high: 0, low: 1)) }
        watch.moved("last", by: DeviceID(high: 0, low: 2))
        watch.movedIsDue()
        let due = watch.takeDue()
        #expect(due.map(\.sessions) == [[1], [2]])
        #expect(due.map(\.zoneNames) == [["last"], []])
    }

    @Test func `I-7: of very many subscriptions that end, a bounded number waits for its last push`() {
        var watch = watch(1)
        for number in 0..<1_000 {
            let gone = Subscription(
                id: "\(number)", scope: .private, kind: .database, recordType: nil, notificationInfo: [])
            watch.tellOfEnds([gone], by: nil)
        }
        let due = watch.takeDue()
        #expect(due.map(\.subscriptions.count) == [250])
    }

    @Test func `R-723: of devices that each write in a zone of their own a bounded number has pushes of its own`() {
        for (count, groupCount) in [(32, 32), (33, 1), (400, 1)] {
            var watch = DatabaseWatch(user: UserID(1), account: AccountID(1), since: .zero)
            for number in 1...UInt64(count) {
                let life = DeviceID(high: 0, low: number)
                watch.join(number, life)
                watch.moved("zone \(number)", by: life)
            }
            let groups = watch.takeMoved()
            #expect(groups.count == groupCount)
            #expect(groups.flatMap(\.sessions).sorted() == Array(1...UInt64(count)), "each is told once")
            let named = groupCount == 1 ? count : count - 1
            #expect(groups.map(\.zoneNames.count) == Array(repeating: named, count: groupCount))
        }
    }

    @Test func `R-248: sessions with the same zones are together, whoever else changed them`() {
        var watch = watch(1, 2, 3, 4)
        watch.moved("both", by: DeviceID(high: 0, low: 1))
        watch.moved("both", by: DeviceID(high: 0, low: 2))
        watch.moved("own", by: DeviceID(high: 0, low: 3))
        let groups = watch.takeMoved()
        #expect(groups.map(\.sessions) == [[1, 2, 4], [3]])
        #expect(groups.map(\.zoneNames) == [["both", "own"], ["both"]])
    }
}
