// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkFairness
import TidemarkFields
import TidemarkScheduling

@testable import TidemarkService

/// The queue alone: no clock, no task, no store.
@Suite struct WriteQueueTests {
    private static let user = UserID(1)

    private func request(
        _ counter: UInt64, zone: String = "a", device: UInt64 = 1, items: Int = 1, bytes: Int = 0,
        user: UserID = user, in database: DatabaseID = database
    ) throws -> RecordsRequest {
        let fields = bytes == 0 ? FieldMap() : try FieldMap([Field("b", .bytes([UInt8](repeating: 0, count: bytes)))])
        return RecordsRequest(
            id: RequestID(DeviceID(high: 0, low: device), counter), key: ZoneKey(database: database, name: zone),
            saves: [RecordSave(name: "r", type: "T", tag: nil, fields: fields, parent: .unchanged)],
            deletes: (1..<items).map { "d\($0)" }, policy: .allKeys, isAtomic: true, user: user,
            access: .owner(user))
    }

    /// Of one event loop.
    private func makeQueue(_ settings: WriteSettings = WriteSettings()) -> WriteQueue {
        var queue = WriteQueue(settings: settings)
        _ = queue.addLoop()
        return queue
    }

    private func counters(_ group: [WriteQueue.Entry]?) -> [UInt64]? { group?.map(\.request.id.counter) }

    private static let database = DatabaseID(1)
    private let owner = WorkOwner.account(1)

    @Test func `requests to a zone that is being written wait for the next transaction, and go together`() throws {
        var queue = makeQueue()
        #expect(queue.admit(try request(1), for: owner, at: 0, now: .zero) == .queued(0))
        #expect(queue.startsWorker(at: 0) == true)
        let first = queue.nextEntries(at: 0, isFirst: true)!
        #expect(counters(first) == [1])
        for counter in 2...5 as ClosedRange<UInt64> {
            _ = queue.admit(try request(counter), for: owner, at: 0, now: .zero)
        }
        #expect(queue.startsWorker(at: 0) == false, "the zone is in a transaction")
        queue.leave(first)
        queue.endGroup(first, at: 0)
        #expect(counters(queue.nextEntries(at: 0, isFirst: false)) == [2, 3, 4, 5])
    }

    @Test func `R-710: what one account sends leaves room for others, whichever users it is`() throws {
        var settings = WriteSettings()
        settings.requestsMax = 8
        settings.bytesMax = 4_000
        var queue = makeQueue(settings)
        func admit(_ counter: UInt64, _ account: Int64, user: Int64, bytes: Int = 0) throws -> WriteQueue.Admission {
            let request = try request(counter, device: UInt64(account), bytes: bytes, user: UserID(user))
            return queue.admit(request, for: .account(account), at: 0, now: .zero)
        }
        #expect(try [admit(1, 1, user: 1), admit(2, 1, user: 2)] == [.queued(0), .queued(1)])
        #expect(try admit(3, 1, user: 3) == .refused(.tooManyRequests))
        #expect(try admit(1, 2, user: 4, bytes: 900) == .queued(2))
        #expect(try admit(2, 2, user: 5, bytes: 900) == .refused(.tooManyRequests))
        _ = queue.startsWorker(at: 0)
        let next = queue.nextEntries(at: 0, isFirst: true)
        let group = try #require(next)
        #expect(group.count == 3)
        queue.leave(group)
        queue.endGroup(group, at: 0)
        #expect(try [admit(3, 1, user: 1), admit(2, 2, user: 4, bytes: 900)] == [.queued(3), .queued(4)])
    }

    @Test func `R-711: whoever saves in a thousand zones has a turn like anybody else`() throws {
        var settings = WriteSettings()
        settings.groupZonesMax = 3
        var queue = makeQueue(settings)
        for counter in 1...1_000 as ClosedRange<UInt64> {
            _ = queue.admit(
                try request(counter, zone: "\(counter)"), for: .account(1), at: 0, now: .zero)
        }
        _ = queue.admit(
            try request(1_001, zone: "a", device: 2, in: DatabaseID(2)), for: .account(2), at: 0, now: .zero)
        _ = queue.startsWorker(at: 0)
        #expect(counters(queue.nextEntries(at: 0, isFirst: true)) == [1, 1_001, 2])
    }

    @Test func `R-711: whoever saves a thousand times in a zone of all has a turn like anybody else`() throws {
        var settings = WriteSettings()
        settings.groupItemsMax = 3
        var queue = makeQueue(settings)
        for counter in 1...1_000 as ClosedRange<UInt64> {
            _ = queue.admit(try request(counter), for: .account(1), at: 0, now: .zero)
        }
        for counter in 1_001...1_002 as ClosedRange<UInt64> {
            _ = queue.admit(try request(counter, device: 2), for: .account(2), at: 0, now: .zero)
        }
        _ = queue.startsWorker(at: 0)
        #expect(counters(queue.nextEntries(at: 0, isFirst: true)) == [1, 1_001, 2])
    }

    /// Starts a worker, if there is a place, and tells what it writes.
    private func start(_ queue: inout WriteQueue) -> [WriteQueue.Entry]? {
        queue.startsWorker(at: 0) ? queue.nextEntries(at: 0, isFirst: true) : nil
    }

    private func end(_ group: [WriteQueue.Entry]?, _ queue: inout WriteQueue) {
        guard let group else {
            Issue.record("there was nothing to write")
            return
        }
        queue.leave(group)
        queue.endGroup(group, at: 0)
    }

    @Test func `R-727: an account whose transactions have all places holds up nobody else`() throws {
        var settings = WriteSettings()
        settings.transactionsMax = 3
        settings.groupZonesMax = 1
        var queue = makeQueue(settings)
        func admit(_ counter: UInt64, _ account: Int64) throws {
            let request = try request(
                counter, zone: "\(counter)", device: UInt64(account), in: DatabaseID(account))
            _ = queue.admit(request, for: .account(account), at: 0, now: .zero)
        }
        for counter in 1...6 as ClosedRange<UInt64> { try admit(counter, 1) }
        let greedy = (0..<3).map { _ in start(&queue) }
        #expect(greedy.map(counters) == [[1], [2], [3]], "while nobody else is there, it may have all")
        #expect(queue.startsWorker(at: 0) == false)
        try admit(7, 2)
        let other = start(&queue)
        #expect(counters(other) == [7])
        try admit(8, 2)
        try admit(9, 3)
        #expect(queue.startsWorker(at: 0) == false, "the spare place is taken")
        end(greedy[0], &queue)
        let third = queue.nextEntries(at: 0, isFirst: false)
        #expect(counters(third) == [9], "whoever has nothing under way is next")
        end(other, &queue)
        let again = queue.nextEntries(at: 0, isFirst: false)
        #expect(counters(again) == [8])
        end(again, &queue)
        #expect(queue.nextEntries(at: 0, isFirst: false) == nil, "the spare place is not the greedy one's")
        end(greedy[1], &queue)
        #expect(counters(queue.nextEntries(at: 0, isFirst: false)) == [4], "what waits has every other place")
    }

    @Test func `R-711, R-727: a zone in which several owners wait has turns of each of them`() throws {
        var settings = WriteSettings()
        settings.transactionsMax = 1
        settings.groupZonesMax = 1
        var queue = makeQueue(settings)
        func admit(_ counter: UInt64, _ account: Int64, zone: String) throws {
            let request = try request(counter, zone: zone, device: UInt64(account))
            _ = queue.admit(request, for: .account(account), at: 0, now: .zero)
        }
        for counter in 1...4 as ClosedRange<UInt64> { try admit(counter, 1, zone: "\(counter)") }
        try admit(5, 1, zone: "common")
        try admit(6, 2, zone: "common")
        let first = start(&queue)
        #expect(counters(first) == [1])
        // The common zone stands behind all others of the first account, and is the only one of the second.
        end(first, &queue)
        let second = queue.nextEntries(at: 0, isFirst: false)
        #expect(counters(second) == [5, 6])
        try admit(7, 1, zone: "common")
        try admit(8, 2, zone: "common")
        end(second, &queue)
        var rest: [[UInt64]] = []
        while let group = queue.nextEntries(at: 0, isFirst: false) {
            rest.append(group.map(\.request.id.counter))
            end(group, &queue)
        }
        #expect(rest == [[2], [7, 8], [3], [4]] || rest == [[7, 8], [2], [3], [4]], "\(rest)")
        #expect(queue.isIdle)
    }

    @Test func `R-711: a turn that is left over from a zone's time on another loop is none`() throws {
        var settings = WriteSettings()
        settings.transactionsMax = 1
        settings.groupZonesMax = 1
        var queue = makeQueue(settings)
        #expect(queue.addLoop() == 1)
        func admit(_ counter: UInt64, _ account: Int64, zone: String, at loop: Int) throws {
            let request = try request(counter, zone: zone, device: UInt64(account))
            _ = queue.admit(request, for: .account(account), at: loop, now: .zero)
        }
        try admit(1, 1, zone: "common", at: 0)
        try admit(2, 2, zone: "common", at: 0)
        let first = start(&queue)
        #expect(counters(first) == [1, 2])
        end(first, &queue)
        // The turn of the second account is still there. The zone has gone, and comes to another loop.
        try admit(3, 2, zone: "common", at: 1)
        #expect(queue.nextEntries(at: 0, isFirst: false) == nil)
        #expect(queue.startsWorker(at: 1) == true)
        let second = queue.nextEntries(at: 1, isFirst: true)
        #expect(counters(second) == [3])
    }

    @Test func `zones that are ready together share a transaction, and one worker starts at a time`() throws {
        var queue = makeQueue()
        _ = queue.admit(try request(1, zone: "a"), for: owner, at: 0, now: .zero)
        #expect(queue.startsWorker(at: 0) == true)
        _ = queue.admit(try request(2, zone: "b", in: DatabaseID(2)), for: owner, at: 0, now: .zero)
        _ = queue.admit(try request(3, zone: "a"), for: owner, at: 0, now: .zero)
        #expect(queue.startsWorker(at: 0) == false)
        #expect(counters(queue.nextEntries(at: 0, isFirst: true)) == [1, 3, 2])
    }

    @Test func `each loop's workers write what came to it, but a zone that another loop is busy with`() throws {
        var settings = WriteSettings()
        settings.transactionsMax = 1
        var queue = makeQueue(settings)
        #expect(queue.addLoop() == 1)
        _ = queue.admit(try request(1, zone: "a"), for: owner, at: 0, now: .zero)
        #expect(queue.startsWorker(at: 1) == false, "nothing came there")
        _ = queue.admit(try request(2, zone: "b"), for: owner, at: 1, now: .zero)
        _ = queue.admit(try request(3, zone: "a"), for: owner, at: 1, now: .zero)
        #expect(queue.startsWorker(at: 0) == true)
        #expect(queue.startsWorker(at: 1) == true, "transactions are counted by loop")
        let first = queue.nextEntries(at: 0, isFirst: true)!
        #expect(counters(first) == [1, 3], "in the order in which they came, on one loop")
        let other = queue.nextEntries(at: 1, isFirst: true)!
        #expect(counters(other) == [2])
        _ = queue.admit(try request(4, zone: "a"), for: owner, at: 1, now: .zero)
        queue.leave(other)
        queue.endGroup(other, at: 1)
        #expect(queue.nextEntries(at: 1, isFirst: false) == nil, "the zone is in the other loop's transaction")
        #expect(queue.startsWorker(at: 1) == false)
        queue.leave(first)
        queue.endGroup(first, at: 0)
        #expect(queue.startsWorker(at: 1) == false)
        let second = queue.nextEntries(at: 0, isFirst: false)!
        #expect(counters(second) == [4], "it stays there as long as something waits")
        queue.leave(second)
        queue.endGroup(second, at: 0)
        #expect(!queue.isIdle, "a worker is left")
        #expect(queue.nextEntries(at: 0, isFirst: false) == nil)
        #expect(queue.isIdle)
        _ = queue.admit(try request(5, zone: "a"), for: owner, at: 1, now: .zero)
        #expect(queue.startsWorker(at: 1) == true, "and goes where it is wanted next")
        #expect(counters(queue.nextEntries(at: 1, isFirst: true)) == [5])
    }

    @Test func `where an engine spreads databases, a transaction is of one database`() throws {
        var settings = WriteSettings()
        settings.groupSpansDatabases = false
        var queue = makeQueue(settings)
        _ = queue.admit(try request(1, zone: "a"), for: owner, at: 0, now: .zero)
        _ = queue.admit(try request(2, zone: "a", in: DatabaseID(2)), for: owner, at: 0, now: .zero)
        _ = queue.admit(try request(3, zone: "b"), for: owner, at: 0, now: .zero)
        #expect(queue.startsWorker(at: 0) == true)
        #expect(counters(queue.nextEntries(at: 0, isFirst: true)) == [1, 3])
        #expect(queue.startsWorker(at: 0) == true, "the other database is ready")
        #expect(counters(queue.nextEntries(at: 0, isFirst: true)) == [2])
    }

    @Test func `I-7: transactions, their items, bytes and zones are bounded`() throws {
        var settings = WriteSettings()
        settings.transactionsMax = 2
        settings.groupItemsMax = 5
        settings.groupBytesMax = 1_000
        settings.groupZonesMax = 2
        var queue = makeQueue(settings)
        _ = queue.admit(try request(1, zone: "a", items: 3), for: owner, at: 0, now: .zero)
        _ = queue.admit(try request(2, zone: "a", items: 3), for: owner, at: 0, now: .zero)
        _ = queue.admit(try request(3, zone: "b", items: 2), for: owner, at: 0, now: .zero)
        _ = queue.admit(try request(4, zone: "c", bytes: 5_000), for: owner, at: 0, now: .zero)
        _ = queue.admit(try request(5, zone: "d"), for: owner, at: 0, now: .zero)
        #expect(queue.startsWorker(at: 0) == true)
        let first = queue.nextEntries(at: 0, isFirst: true)!
        #expect(counters(first) == [1, 3], "five items, two zones")
        #expect(queue.startsWorker(at: 0) == true)
        #expect(counters(queue.nextEntries(at: 0, isFirst: true)) == [4], "more bytes than a group has go alone")
        #expect(queue.startsWorker(at: 0) == false, "two transactions")
        queue.leave(first)
        queue.endGroup(first, at: 0)
        #expect(counters(queue.nextEntries(at: 0, isFirst: false)) == [5, 2], "first come, first served")
    }

    @Test func `I-7: the queue is bounded by requests and by bytes`() throws {
        var settings = WriteSettings()
        settings.requestsMax = 8
        var queue = makeQueue(settings)
        _ = queue.admit(try request(1), for: owner, at: 0, now: .zero)
        _ = queue.admit(try request(2, bytes: 100), for: owner, at: 0, now: .zero)
        #expect(queue.admit(try request(3), for: owner, at: 0, now: .zero) == .refused(.tooManyRequests))
        #expect(
            queue.admit(try request(2), for: owner, at: 0, now: .zero) == .joined(1),
            "a repeat takes no room")
        settings.requestsMax = 40
        settings.bytesMax = 100
        queue = makeQueue(settings)
        #expect(
            queue.admit(try request(1, bytes: 200), for: owner, at: 0, now: .zero)
                == .refused(.tooManyRequests))
    }

    @Test func `R-157: a repeated request joins the first while that is here`() throws {
        var queue = makeQueue()
        _ = queue.admit(try request(1), for: owner, at: 0, now: .zero)
        #expect(queue.admit(try request(1), for: owner, at: 0, now: .zero) == .joined(0))
        #expect(
            queue.admit(try request(1, zone: "b"), for: owner, at: 0, now: .zero) == .queued(1),
            "another zone's part"
        )
        #expect(
            queue.admit(try request(1, in: DatabaseID(2)), for: owner, at: 0, now: .zero) == .queued(2),
            "another database")
        #expect(
            queue.admit(try request(1, device: 2), for: owner, at: 0, now: .zero) == .queued(3),
            "another device")
        #expect(queue.startsWorker(at: 0) == true)
        let group = queue.nextEntries(at: 0, isFirst: true)!
        #expect(
            queue.admit(try request(1), for: owner, at: 0, now: .zero) == .joined(0),
            "while it is being written")
        queue.leave(group)
        queue.endGroup(group, at: 0)
        #expect(
            queue.admit(try request(1), for: owner, at: 0, now: .zero) == .queued(4),
            "the store remembers it now")
    }

    /// a closed container is not the fault of requests to others.
    @Test(
        arguments: [(.rejected, .serverFault), (.containerClosed, .containerClosed)]
            as [(StorageError.Code, FailureReason)])
    func `a group that the store rejects is cut in halves, and a single request fails alone`(
        _ code: StorageError.Code, _ reason: FailureReason
    ) throws {
        var queue = makeQueue()
        for counter in 1...3 as ClosedRange<UInt64> {
            _ = queue.admit(try request(counter), for: owner, at: 0, now: .zero)
        }
        _ = queue.startsWorker(at: 0)
        let group = queue.nextEntries(at: 0, isFirst: true)!
        guard
            case .bisect(let first, let second) = queue.recover(
                from: code, part: group, rest: [], now: .zero, randomBits: { 0 })
        else {
            Issue.record("not cut")
            return
        }
        #expect(counters(first) == [1])
        #expect(counters(second) == [2, 3])
        guard
            case .later(let refusals, let wakes) = queue.recover(
                from: code, part: first, rest: [second], now: .zero, randomBits: { 0 })
        else {
            Issue.record("not refused")
            return
        }
        queue.endGroup(group, at: 0)
        #expect(refusals == [.init(ticket: 0, reason: reason)])
        #expect(wakes.isEmpty)
        #expect(counters(queue.nextEntries(at: 0, isFirst: false)) == [2, 3], "the others go on")
    }

    @Test func `after a failure that passes, a zone rests, keeps its order, and goes on`() throws {
        var queue = makeQueue()
        for counter in 1...2 as ClosedRange<UInt64> {
            _ = queue.admit(try request(counter), for: owner, at: 0, now: .zero)
        }
        _ = queue.startsWorker(at: 0)
        let group = queue.nextEntries(at: 0, isFirst: true)!
        _ = queue.admit(try request(3), for: owner, at: 0, now: .zero)
        guard
            case .later(_, let wakes) = queue.recover(
                from: .unavailable, part: group, rest: [], now: .zero, randomBits: { 500 })
        else {
            Issue.record("not later")
            return
        }
        queue.endGroup(group, at: 0)
        #expect(wakes == [.init(key: ZoneKey(database: Self.database, name: "a"), delay: .milliseconds(20))])
        #expect(queue.nextEntries(at: 0, isFirst: false) == nil, "it rests")
        #expect(queue.startsWorker(at: 0) == false)
        queue.wake(wakes[0].key)
        #expect(queue.startsWorker(at: 0) == true)
        #expect(counters(queue.nextEntries(at: 0, isFirst: true)) == [1, 2, 3])
    }

    @Test func `R-158: zones of a group that found one busy go on at once, each alone`() throws {
        var queue = makeQueue()
        _ = queue.admit(try request(1, zone: "a"), for: owner, at: 0, now: .zero)
        _ = queue.admit(try request(2, zone: "b"), for: owner, at: 0, now: .zero)
        _ = queue.startsWorker(at: 0)
        let group = queue.nextEntries(at: 0, isFirst: true)!
        guard
            case .later(_, let wakes) = queue.recover(
                from: .zoneBusy, part: group, rest: [], now: .zero, randomBits: { 0 })
        else {
            Issue.record("not later")
            return
        }
        queue.endGroup(group, at: 0)
        #expect(wakes.isEmpty)
        _ = queue.admit(try request(3, zone: "c"), for: owner, at: 0, now: .zero)
        let alone = queue.nextEntries(at: 0, isFirst: false)!
        #expect(counters(alone) == [1])
        #expect(queue.startsWorker(at: 0) == true)
        #expect(counters(queue.nextEntries(at: 0, isFirst: true)) == [2])
        guard
            case .later(_, let wakes) = queue.recover(
                from: .zoneBusy, part: alone, rest: [], now: .zero, randomBits: { 500 })
        else {
            Issue.record("not later")
            return
        }
        #expect(wakes.map(\.delay) == [.milliseconds(40)], "the busy one waits, longer each time")
    }

    @Test func `who has waited too long is told what went wrong`() throws {
        var settings = WriteSettings()
        settings.waitMax = .seconds(1)
        var queue = makeQueue(settings)
        _ = queue.admit(try request(1), for: owner, at: 0, now: .zero)
        _ = queue.startsWorker(at: 0)
        let group = queue.nextEntries(at: 0, isFirst: true)!
        _ = queue.admit(try request(2), for: owner, at: 0, now: .milliseconds(500))
        #expect(queue.nextDeadline == .milliseconds(1_500), "one that is being written is not refused")
        _ = queue.recover(from: .commitUnknown, part: group, rest: [], now: .zero, randomBits: { 0 })
        queue.endGroup(group, at: 0)
        #expect(queue.nextDeadline == .seconds(1))
        #expect(queue.expire(now: .milliseconds(999), at: 0) == [])
        #expect(
            queue.expire(now: .seconds(2), at: 0) == [
                .init(ticket: 0, reason: .storeUnavailable), .init(ticket: 1, reason: .zoneBusy),
            ])
        #expect(queue.nextDeadline == nil)
    }

    @Test func `who is put back when its time is over, or when the server stops, is not tried again`() throws {
        for stops in [false, true] {
            var settings = WriteSettings()
            settings.waitMax = .seconds(1)
            var queue = makeQueue(settings)
            _ = queue.admit(try request(1), for: owner, at: 0, now: .zero)
            _ = queue.admit(try request(2), for: owner, at: 0, now: .milliseconds(500))
            _ = queue.startsWorker(at: 0)
            let group = queue.nextEntries(at: 0, isFirst: true)!
            #expect(counters(group) == [1, 2])
            if stops { #expect(queue.stop() == []) }
            guard
                case .later(let refusals, let wakes) = queue.recover(
                    from: .unavailable, part: group, rest: [], now: .seconds(1), randomBits: { 500 })
            else {
                Issue.record("not later")
                return
            }
            queue.endGroup(group, at: 0)
            #expect(refusals.map(\.reason) == Array(repeating: .storeUnavailable, count: stops ? 2 : 1))
            #expect(refusals.first?.ticket == 0)
            #expect(wakes.count == (stops ? 0 : 1))
            for wake in wakes { queue.wake(wake.key) }
            #expect(counters(queue.nextEntries(at: 0, isFirst: false)) == (stops ? nil : [2]))
            #expect(queue.isIdle == stops)
        }
    }

    @Test func `a part that was not tried yet and whose time is over is said to have found the zone busy`() throws {
        var settings = WriteSettings()
        settings.waitMax = .seconds(1)
        var queue = makeQueue(settings)
        for counter in 1...2 as ClosedRange<UInt64> {
            _ = queue.admit(try request(counter), for: owner, at: 0, now: .zero)
        }
        _ = queue.startsWorker(at: 0)
        let group = queue.nextEntries(at: 0, isFirst: true)!
        guard
            case .later(let refusals, _) = queue.recover(
                from: .unavailable, part: [group[0]], rest: [[group[1]]], now: .seconds(2), randomBits: { 0 })
        else {
            Issue.record("not later")
            return
        }
        #expect(refusals == [.init(ticket: 0, reason: .storeUnavailable), .init(ticket: 1, reason: .zoneBusy)])
    }

    @Test func `a request that may have been written is never said to be only busy`() throws {
        var settings = WriteSettings()
        settings.attemptsMax = 2
        var queue = makeQueue(settings)
        _ = queue.admit(try request(1), for: owner, at: 0, now: .zero)
        _ = queue.startsWorker(at: 0)
        let group = queue.nextEntries(at: 0, isFirst: true)!
        _ = queue.recover(from: .commitUnknown, part: group, rest: [], now: .zero, randomBits: { 0 })
        queue.endGroup(group, at: 0)
        queue.wake(ZoneKey(database: Self.database, name: "a"))
        let again = queue.nextEntries(at: 0, isFirst: false)!
        guard
            case .later(let refusals, _) = queue.recover(
                from: .zoneBusy, part: again, rest: [], now: .zero, randomBits: { 0 })
        else {
            Issue.record("not later")
            return
        }
        #expect(refusals == [.init(ticket: 0, reason: .storeUnavailable)])
    }

    @Test func `when it stops, who waits is refused and who is being written is not`() throws {
        var queue = makeQueue()
        _ = queue.admit(try request(1), for: owner, at: 0, now: .zero)
        _ = queue.startsWorker(at: 0)
        let group = queue.nextEntries(at: 0, isFirst: true)!
        _ = queue.admit(try request(2), for: owner, at: 0, now: .zero)
        #expect(queue.stop() == [.init(ticket: 1, reason: .storeUnavailable)])
        #expect(queue.admit(try request(3), for: owner, at: 0, now: .zero) == .refused(.storeUnavailable))
        #expect(!queue.isIdle)
        queue.leave(group)
        queue.endGroup(group, at: 0)
        #expect(queue.nextEntries(at: 0, isFirst: false) == nil)
        #expect(queue.isIdle)
    }

    @Test(arguments: [(1, 20), (2, 40), (3, 80), (7, 1_000), (500, 1_000)])
    func `back-off doubles to its bound, and is spread over its upper half`(_ failures: Int, _ milliseconds: Int) {
        let backoff = Backoff(shortest: .milliseconds(20), longest: .seconds(1))
        for randomBits in [0, 1, 499, 500, 12_345, UInt64.max] {
            let delay = backoff.delay(failureCount: failures, randomBits: randomBits)
            #expect(delay >= .milliseconds(milliseconds) / 2 && delay <= .milliseconds(milliseconds))
        }
    }
}
