// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing
import TidemarkDomain
import TidemarkFairness
import TidemarkFields
import TidemarkTestSupport

@testable import TidemarkService

/// When a page of a zone's feed is read before it is asked for, and when it is used. `FeedReaderTests` reads real pages.
@Suite struct ReadAheadCacheTests {
    private let device = DeviceID(high: 0, low: 1)
    private let key = ZoneKey(database: DatabaseID(1), name: "notes")

    private func question(_ token: UInt8 = 0) -> ZoneQuestion {
        ZoneQuestion(key: key, token: [token], recordsMax: 0, device: device, reader: nil)
    }

    private func page(moreComing: Bool, textBytes: Int = 1, number: Int64 = 3) throws -> ZonePage {
        let zone = ZoneState(id: ZoneID(1), key: key, createdAt: Timestamp(milliseconds: 0), changeNumber: 9)
        let record = RecordState(
            name: "a", type: "Note",
            fields: try FieldMap([Field("text", .string(String(repeating: "x", count: textBytes)))]),
            changeNumber: number, isDeleted: false, parent: nil, createdAt: Timestamp(milliseconds: 1),
            createdBy: UserID(1), createdByDevice: device, modifiedAt: Timestamp(milliseconds: 1),
            modifiedBy: UserID(1), batchEnd: number)
        let read = ZonePageRead(zone: zone, lastRemoval: nil, records: [record], hasMore: moreComing)
        let query = ZonePageQuery(
            key: key, after: .init(zone: zone.id, number: 0), recordsMax: 200, bytesMax: 4_194_304, device: device,
            reader: nil, tombstonesPassedMax: 0)
        return try ZonePage.make(of: read, for: query, store: StoreIncarnation(1)).get()
    }

    @Test func `I-3, R-212: the next page is read ahead if there is one, and the page before it is small`() throws {
        let rows: [(moreComing: Bool, textBytes: Int, isReadAhead: Bool)] = [
            (true, 1, true), (false, 1, false), (true, ReadAheadCache<Int>.bytesMax - 100, true),
            (true, ReadAheadCache<Int>.bytesMax, false), (false, ReadAheadCache<Int>.bytesMax, false),
        ]
        for row in rows {
            let page = try page(moreComing: row.moreComing, textBytes: row.textBytes)
            var expected = question()
            expected.token = page.token.bytes
            #expect(
                ReadAheadCache<Int>.next(after: page, of: question()) == (row.isReadAhead ? expected : nil), "\(row)")
            #expect(ReadAheadCache<Int>.isUsed(page) == row.moreComing)
        }
    }

    @Test func `I-3: a page that was read ahead is used once`() {
        var pages = ReadAheadCache<Int>()
        #expect(pages.begin(question(1), of: .nobody, at: .zero, 1) == (1, false))
        #expect(pages.begin(question(2), of: .nobody, at: .zero, 2) == (2, false))
        #expect(pages.take(question(2), at: .zero) == 2)
        #expect(pages.take(question(2), at: .zero) == nil)
        #expect(pages.take(question(3), at: .zero) == nil)
        #expect(pages.take(question(1), at: .zero) == 1)
    }

    @Test func `I-3: after a page that was read just now, what was to follow one with the same end is forgotten`()
        throws
    {
        let page = try page(moreComing: true)
        var pages = ReadAheadCache<Int>()
        var next = question()
        next.token = page.token.bytes
        let others = [
            ZoneQuestion(key: key, token: next.token, recordsMax: 0, device: DeviceID(high: 0, low: 2), reader: nil),
            ZoneQuestion(
                key: ZoneKey(database: DatabaseID(1), name: "b"), token: next.token, recordsMax: 0, device: device,
                reader: nil),
        ]
        let shorter = ZoneQuestion(key: key, token: next.token, recordsMax: 1, device: device, reader: nil)
        for (number, question) in ([next, shorter] + others).enumerated() {
            #expect(pages.begin(question, of: .nobody, at: .zero, number) == (number, false))
            #expect(pages.begin(question, of: .nobody, at: .zero, 9) == (number, true))
        }
        pages.forget(after: page, of: question(7))
        #expect([next, shorter].map { pages.take($0, at: .zero) } == [nil, nil])
        #expect(others.map { pages.take($0, at: .zero) } == [2, 3])
    }

    @Test func `I-3: a page that waits for more than two seconds is not used`() {
        for (age, expected) in [(Duration.seconds(2), 1), (.milliseconds(2_001), nil)] as [(Duration, Int?)] {
            var pages = ReadAheadCache<Int>()
            _ = pages.begin(question(), of: .nobody, at: .seconds(5), 1)
            #expect(pages.take(question(), at: .seconds(5) + age) == expected, "\(age)")
        }
    }

    @Test func `R-722: pages that nobody asks for are forgotten without a question`() {
        var pages = ReadAheadCache<Int>()
        _ = pages.begin(question(1), of: .nobody, at: .zero, 1)
        _ = pages.begin(question(2), of: .nobody, at: .seconds(1), 2)
        #expect(pages.forgetOld(at: .seconds(2)) && pages.count == 2)
        #expect(pages.forgetOld(at: .milliseconds(2_001)) && pages.count == 1)
        #expect(!pages.forgetOld(at: .milliseconds(3_001)) && pages.count == 0)
    }

    @Test func `R-722: pages that were read ahead are gone a few seconds later`() throws {
        let scheduler = ManualScheduler()
        let stored = try (1...6).map { try page(moreComing: true, number: $0) }
        let readCount = Mutex(0)
        let pages = PagesAhead(
            scheduler: scheduler,
            read: { _, _ in
                readCount.withLock { count in
                    count += 1
                    return .success(stored[count - 1])
                }
            }, mayRead: { _, _ in true })
        for round in 1...2 {
            let question = question()
            _ = try scheduler.complete { await pages.answer(question, of: .nobody, on: nil) { $0 } }
            scheduler.runUntilIdle()
            // The page that was asked for, and two after it. A timer runs as long as there are some.
            #expect(readCount.withLock { $0 } == 3 * round && scheduler.nextTimer != nil)
            // At two seconds pages are as old as they may be.
            scheduler.advance(by: .seconds(5))
            #expect(scheduler.nextTimer == nil)
        }
    }

    @Test func `R-716: of one owner a few pages are read ahead, of others as many beside them`() {
        var pages = ReadAheadCache<Int>()
        let (alice, bob) = (WorkOwner.account(1), WorkOwner.account(2))
        for number in 0..<ReadAheadCache<Int>.countPerOwnerMax {
            #expect(pages.admits(question(UInt8(number)), of: alice))
            _ = pages.begin(question(UInt8(number)), of: alice, at: .zero, number)
        }
        #expect(!pages.admits(question(100), of: alice) && pages.admits(question(100), of: bob))
        #expect(pages.admits(question(0), of: alice), "it is here")
        let taken = pages.take(question(0), at: .zero)
        #expect(taken == 0 && pages.admits(question(100), of: alice))
    }

    /// Pages of different zones that are always followed by more.
    private func endlessPages(
        _ scheduler: ManualScheduler, onRead: @escaping @Sendable (_ isAhead: Bool) -> Void
    ) throws -> (pages: PagesAhead, question: @Sendable (Int) -> ZoneQuestion) {
        let stored = try (1...100).map { try page(moreComing: true, number: $0) }
        let readCount = Mutex(0)
        let pages = PagesAhead(
            scheduler: scheduler,
            read: { _, isAhead in
                onRead(isAhead)
                return readCount.withLock { count in
                    count += 1
                    return .success(stored[count - 1])
                }
            }, mayRead: { _, _ in true })
        return (
            pages,
            { [device] number in
                let key = ZoneKey(database: DatabaseID(1), name: "\(number)")
                return ZoneQuestion(key: key, token: [0], recordsMax: 0, device: device, reader: nil)
            }
        )
    }

    @Test func `R-716: an account that asks for many zones has eight pages read ahead, and others have as many`()
        throws
    {
        let scheduler = ManualScheduler()
        let aheadCount = Log<Void>()
        let (pages, question) = try endlessPages(scheduler) { if $0 { aheadCount.append(()) } }
        for (owner, count) in [(WorkOwner.account(1), 8), (.account(2), 16)] {
            for number in 0..<10 {
                let asked = question(number + count * 10)
                _ = try scheduler.complete { await pages.answer(asked, of: owner, on: nil) { $0 } }
                scheduler.runUntilIdle()
            }
            #expect(aheadCount.all.count == count)
        }
    }

    @Test func `R-778: pages are read ahead in the lane of the account that asks`() throws {
        let (scheduler, lane) = (ManualScheduler(), ManualScheduler())
        let aheadCount = Log<Void>()
        let (pages, question) = try endlessPages(scheduler) { if $0 { aheadCount.append(()) } }
        let asked = question(1)
        _ = try scheduler.complete { await pages.answer(asked, of: .account(1), on: lane) { $0 } }
        scheduler.runUntilIdle()
        #expect(aheadCount.all.isEmpty)
        lane.runUntilIdle()
        #expect(aheadCount.all.count == 2)
    }

    @Test func `I-7: of more than 32 pages the oldest is forgotten`() {
        var pages = ReadAheadCache<Int>()
        let countMax = ReadAheadCache<Int>.countMax
        for number in 0...countMax {
            _ = pages.begin(question(UInt8(number)), of: .nobody, at: .zero, number)
        }
        #expect(pages.take(question(0), at: .zero) == nil)
        for number in 1...countMax { #expect(pages.take(question(UInt8(number)), at: .zero) == number) }
    }
}
