// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkFields
import TidemarkScheduling

@testable import TidemarkService

/// The queue alone: no clock, no task, no store.
@Suite struct WriteQueueTests {
    private static let user = UserID(1)

    private func request(
        _ counter: UInt64, zone: String = "a", device: UInt64 = 1, items: Int = 1, bytes: Int = 0
    ) throws -> RecordsRequest {
        let fields = bytes == 0 ? FieldMap() : try FieldMap([Field("b", .bytes([UInt8](repeating: 0, count: bytes)))])
        return RecordsRequest(
            id: RequestID(DeviceID(high: 0, low: device), counter), zoneName: zone,
            saves: [RecordSave(name: "r", type: "T", tag: nil, fields: fields, parent: .unchanged)],
            deletes: (1..<items).map { "d\($0)" }, policy: .allKeys, isAtomic: true, user: Self.user)
    }

    private func counters(_ group: [WriteQueue.Entry]?) -> [UInt64]? { group?.map(\.request.id.counter) }

    private let database = DatabaseID(1)

    @Test func `requests to a zone that is being written wait for the next transaction, and go together`() throws {
        var queue = WriteQueue(settings: WriteSettings())
        #expect(queue.admit(try request(1), in: database, now: .zero) == .queued(0))
        #expect(queue.startsWorker() == true)
        let first = queue.nextGroup(isFirst: true)!
        #expect(counters(first) == [1])
        for counter in 2...5 as ClosedRange<UInt64> { _ = queue.admit(try request(counter), in: database, now: .zero) }
        #expect(queue.startsWorker() == false, "the zone is in a transaction")
        queue.leave(first)
        queue.endGroup(first)
        #expect(counters(queue.nextGroup(isFirst: false)) == [2, 3, 4, 5])
    }

    @Test func `zones that are ready together share a transaction, and one worker starts at a time`() throws {
        var queue = WriteQueue(settings: WriteSettings())
        _ = queue.admit(try request(1, zone: "a"), in: database, now: .zero)
        #expect(queue.startsWorker() == true)
        _ = queue.admit(try request(2, zone: "b"), in: DatabaseID(2), now: .zero)
        _ = queue.admit(try request(3, zone: "a"), in: database, now: .zero)
        #expect(queue.startsWorker() == false)
        #expect(counters(queue.nextGroup(isFirst: true)) == [1, 3, 2])
    }

    @Test func `where an engine spreads databases, a transaction is of one database`() throws {
        var settings = WriteSettings()
        settings.groupSpansDatabases = false
        var queue = WriteQueue(settings: settings)
        _ = queue.admit(try request(1, zone: "a"), in: database, now: .zero)
        _ = queue.admit(try request(2, zone: "a"), in: DatabaseID(2), now: .zero)
        _ = queue.admit(try request(3, zone: "b"), in: database, now: .zero)
        #expect(queue.startsWorker() == true)
        #expect(counters(queue.nextGroup(isFirst: true)) == [1, 3])
        #expect(queue.startsWorker() == true, "the other database is ready")
        #expect(counters(queue.nextGroup(isFirst: true)) == [2])
    }

    @Test func `I-7: transactions, their items, bytes and zones are bounded`() throws {
        var settings = WriteSettings()
        settings.transactionsMax = 2
        settings.groupItemsMax = 5
        settings.groupBytesMax = 1_000
        settings.groupZonesMax = 2
        var queue = WriteQueue(settings: settings)
        _ = queue.admit(try request(1, zone: "a", items: 3), in: database, now: .zero)
        _ = queue.admit(try request(2, zone: "a", items: 3), in: database, now: .zero)
        _ = queue.admit(try request(3, zone: "b", items: 2), in: database, now: .zero)
        _ = queue.admit(try request(4, zone: "c", bytes: 5_000), in: database, now: .zero)
        _ = queue.admit(try request(5, zone: "d"), in: database, now: .zero)
        #expect(queue.startsWorker() == true)
        let first = queue.nextGroup(isFirst: true)!
        #expect(counters(first) == [1, 3], "five items, two zones")
        #expect(queue.startsWorker() == true)
        #expect(counters(queue.nextGroup(isFirst: true)) == [4], "more bytes than a group has go alone")
        #expect(queue.startsWorker() == false, "two transactions")
        queue.leave(first)
        queue.endGroup(first)
        #expect(counters(queue.nextGroup(isFirst: false)) == [5, 2], "first come, first served")
    }

    @Test func `I-7: the queue is bounded by requests and by bytes`() throws {
        var settings = WriteSettings()
        settings.requestsMax = 2
        var queue = WriteQueue(settings: settings)
        _ = queue.admit(try request(1), in: database, now: .zero)
        _ = queue.admit(try request(2, bytes: 100), in: database, now: .zero)
        #expect(queue.admit(try request(3), in: database, now: .zero) == .refused(.tooManyRequests))
        #expect(queue.admit(try request(2), in: database, now: .zero) == .joined(1), "a repeat takes no room")
        settings.requestsMax = 10
        settings.bytesMax = 100
        queue = WriteQueue(settings: settings)
        #expect(queue.admit(try request(1, bytes: 200), in: database, now: .zero) == .refused(.tooManyRequests))
    }

    @Test func `R-157: a repeated request joins the first while that is here`() throws {
        var queue = WriteQueue(settings: WriteSettings())
        _ = queue.admit(try request(1), in: database, now: .zero)
        #expect(queue.admit(try request(1), in: database, now: .zero) == .joined(0))
        #expect(queue.admit(try request(1, zone: "b"), in: database, now: .zero) == .queued(1), "another zone's part")
        #expect(queue.admit(try request(1), in: DatabaseID(2), now: .zero) == .queued(2), "another database")
        #expect(queue.admit(try request(1, device: 2), in: database, now: .zero) == .queued(3), "another device")
        #expect(queue.startsWorker() == true)
        let group = queue.nextGroup(isFirst: true)!
        #expect(queue.admit(try request(1), in: database, now: .zero) == .joined(0), "while it is being written")
        queue.leave(group)
        queue.endGroup(group)
        #expect(queue.admit(try request(1), in: database, now: .zero) == .queued(4), "the store remembers it now")
    }

    @Test func `a group that the store rejects is cut in halves, and a single request fails alone`() throws {
        var queue = WriteQueue(settings: WriteSettings())
        for counter in 1...3 as ClosedRange<UInt64> { _ = queue.admit(try request(counter), in: database, now: .zero) }
        _ = queue.startsWorker()
        let group = queue.nextGroup(isFirst: true)!
        guard case .bisect(let first, let second) = queue.recover(from: .rejected, part: group, rest: [], dice: { 0 })
        else {
            Issue.record("not cut")
            return
        }
        #expect(counters(first) == [1])
        #expect(counters(second) == [2, 3])
        guard
            case .later(let refusals, let wakes) = queue.recover(
                from: .rejected, part: first, rest: [second], dice: { 0 })
        else {
            Issue.record("not refused")
            return
        }
        queue.endGroup(group)
        #expect(refusals == [.init(ticket: 0, reason: .serverFault)])
        #expect(wakes.isEmpty)
        #expect(counters(queue.nextGroup(isFirst: false)) == [2, 3], "the others go on")
    }

    @Test func `after a failure that passes, a zone rests, keeps its order, and goes on`() throws {
        var queue = WriteQueue(settings: WriteSettings())
        for counter in 1...2 as ClosedRange<UInt64> { _ = queue.admit(try request(counter), in: database, now: .zero) }
        _ = queue.startsWorker()
        let group = queue.nextGroup(isFirst: true)!
        _ = queue.admit(try request(3), in: database, now: .zero)
        guard case .later(_, let wakes) = queue.recover(from: .unavailable, part: group, rest: [], dice: { 500 })
        else {
            Issue.record("not later")
            return
        }
        queue.endGroup(group)
        #expect(wakes == [.init(key: ZoneKey(database: database, name: "a"), delay: .milliseconds(20))])
        #expect(queue.nextGroup(isFirst: false) == nil, "it rests")
        #expect(queue.startsWorker() == false)
        queue.wake(wakes[0].key)
        #expect(queue.startsWorker() == true)
        #expect(counters(queue.nextGroup(isFirst: true)) == [1, 2, 3])
    }

    @Test func `R-158: zones of a group that found one busy go on at once, each alone`() throws {
        var queue = WriteQueue(settings: WriteSettings())
        _ = queue.admit(try request(1, zone: "a"), in: database, now: .zero)
        _ = queue.admit(try request(2, zone: "b"), in: database, now: .zero)
        _ = queue.startsWorker()
        let group = queue.nextGroup(isFirst: true)!
        guard case .later(_, let wakes) = queue.recover(from: .zoneBusy, part: group, rest: [], dice: { 0 })
        else {
            Issue.record("not later")
            return
        }
        queue.endGroup(group)
        #expect(wakes.isEmpty)
        _ = queue.admit(try request(3, zone: "c"), in: database, now: .zero)
        let alone = queue.nextGroup(isFirst: false)!
        #expect(counters(alone) == [1])
        #expect(queue.startsWorker() == true)
        #expect(counters(queue.nextGroup(isFirst: true)) == [2])
        guard case .later(_, let wakes) = queue.recover(from: .zoneBusy, part: alone, rest: [], dice: { 500 })
        else {
            Issue.record("not later")
            return
        }
        #expect(wakes.map(\.delay) == [.milliseconds(40)], "the busy one waits, longer each time")
    }

    @Test func `who has waited too long is told what went wrong`() throws {
        var settings = WriteSettings()
        settings.waitMax = .seconds(1)
        var queue = WriteQueue(settings: settings)
        _ = queue.admit(try request(1), in: database, now: .zero)
        _ = queue.startsWorker()
        let group = queue.nextGroup(isFirst: true)!
        _ = queue.admit(try request(2), in: database, now: .milliseconds(500))
        #expect(queue.nextDeadline == .milliseconds(1_500), "one that is being written is not refused")
        _ = queue.recover(from: .commitUnknown, part: group, rest: [], dice: { 0 })
        queue.endGroup(group)
        #expect(queue.nextDeadline == .seconds(1))
        #expect(queue.expire(now: .milliseconds(999)) == [])
        #expect(
            queue.expire(now: .seconds(2)) == [
                .init(ticket: 0, reason: .storeUnavailable), .init(ticket: 1, reason: .zoneBusy),
            ])
        #expect(queue.nextDeadline == nil)
    }

    @Test func `a request that may have been written is never said to be only busy`() throws {
        var settings = WriteSettings()
        settings.attemptsMax = 2
        var queue = WriteQueue(settings: settings)
        _ = queue.admit(try request(1), in: database, now: .zero)
        _ = queue.startsWorker()
        let group = queue.nextGroup(isFirst: true)!
        _ = queue.recover(from: .commitUnknown, part: group, rest: [], dice: { 0 })
        queue.endGroup(group)
        queue.wake(ZoneKey(database: database, name: "a"))
        let again = queue.nextGroup(isFirst: false)!
        guard case .later(let refusals, _) = queue.recover(from: .zoneBusy, part: again, rest: [], dice: { 0 })
        else {
            Issue.record("not later")
            return
        }
        #expect(refusals == [.init(ticket: 0, reason: .storeUnavailable)])
    }

    @Test func `when it stops, who waits is refused and who is being written is not`() throws {
        var queue = WriteQueue(settings: WriteSettings())
        _ = queue.admit(try request(1), in: database, now: .zero)
        _ = queue.startsWorker()
        let group = queue.nextGroup(isFirst: true)!
        _ = queue.admit(try request(2), in: database, now: .zero)
        #expect(queue.stop() == [.init(ticket: 1, reason: .storeUnavailable)])
        #expect(queue.admit(try request(3), in: database, now: .zero) == .refused(.storeUnavailable))
        #expect(!queue.isIdle)
        queue.leave(group)
        queue.endGroup(group)
        #expect(queue.nextGroup(isFirst: false) == nil)
        #expect(queue.isIdle)
    }

    @Test(arguments: [(1, 20), (2, 40), (3, 80), (7, 1_000), (500, 1_000)])
    func `back-off doubles to its bound, and is spread over its upper half`(_ failures: Int, _ milliseconds: Int) {
        let backoff = Backoff(shortest: .milliseconds(20), longest: .seconds(1))
        for dice in [0, 1, 499, 500, 12_345, UInt64.max] {
            let delay = backoff.delay(failureCount: failures, dice: dice)
            #expect(delay >= .milliseconds(milliseconds) / 2 && delay <= .milliseconds(milliseconds))
        }
    }
}
