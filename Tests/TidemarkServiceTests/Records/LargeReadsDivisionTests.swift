// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkFairness

@testable import TidemarkService

/// How requests are divided that are too large together.
@Suite struct LargeReadsDivisionTests {
    /// What a request brings, and what it needs of the store. 100 bytes are free.
    private typealias Sizes = (zone: Int, bringing: Int, stored: Int)

    private var settings: WriteSettings {
        var settings = WriteSettings()
        settings.storedBytesFree = 100
        return settings
    }

    private func entry(_ ticket: UInt64, _ sizes: Sizes) -> WriteQueue.Entry {
        let key = ZoneKey(database: DatabaseID(1), name: "z\(sizes.zone)")
        let request = RecordsRequest(
            id: RequestID(DeviceID(high: 0, low: 1), ticket), key: key, saves: [], deletes: [], policy: .allKeys,
            isAtomic: false, user: UserID(1), access: .owner(UserID(1)))
        return WriteQueue.Entry(
            ticket: ticket, key: key, owner: .account(1), asker: Asker(), request: request, itemCount: 1,
            byteCount: sizes.bringing, deadline: .seconds(1), arrivalEpoch: nil)
    }

    private func divide(_ all: [Sizes]) -> StoredDivision {
        let entries = all.enumerated().map { entry(UInt64($0.offset), $0.element) }
        return StoredDivision(entries, storedBytes: all.map { $0.stored }, settings: settings)
    }

    private func check(_ all: [Sizes]) {
        let division = divide(all)
        func sizes(_ entry: WriteQueue.Entry) -> Sizes { all[Int(entry.ticket)] }
        func fits(_ chosen: [Sizes]) -> Bool {
            chosen.reduce(0) { $0 + $1.stored } <= 100 + chosen.reduce(0) { $0 + $1.bringing }
        }
        let sent = division.parts.flatMap(\.self) + division.later
        #expect(sent.map(\.ticket).sorted() == Array(0..<UInt64(all.count)), "\(all): each once")
        for zone in 0...1 {
            let tickets = sent.filter { sizes($0).zone == zone }.map(\.ticket)
            #expect(tickets == tickets.sorted(), "\(all): a zone's keep their order")
            let later = division.later.filter { sizes($0).zone == zone }
            #expect(later.first?.isLarge != false, "\(all): nobody waits for no place")
        }
        // What fits together has only grown meanwhile, and is cut in halves.
        let isGrown = fits(all)
        for part in division.parts {
            #expect(!part.isEmpty && !part.contains(where: \.isLarge))
            #expect(isGrown || fits(part.map(sizes)), "\(all): \(part.map(\.ticket))")
            #expect(part.count < all.count, "\(all): it ends")
        }
        for entry in division.later {
            #expect(entry.isLarge == (all.count == 1 || !fits([sizes(entry)])), "\(all): \(entry.ticket)")
        }
    }

    @Test func `R-737: however requests are divided, each goes once, in order, and has no more than it may`() {
        let kinds: [Sizes] = [
            (0, 0, 0), (0, 0, 60), (0, 0, 100), (0, 0, 101), (0, 50, 150),
            (1, 0, 0), (1, 0, 60), (1, 0, 100), (1, 0, 101), (1, 50, 150),
        ]
        var lists: [[Sizes]] = [[]]
        for _ in 1...4 {
            lists = lists.flatMap { list in kinds.map { list + [$0] } }
            for list in lists { check(list) }
        }
        #expect(lists.count == 10_000)
    }

    @Test func `R-737: the zones that need least come first, and what is large waits`() {
        let division = divide([(0, 0, 60), (0, 0, 60), (1, 0, 500), (1, 0, 0), (2, 10, 5), (0, 0, 30)])
        #expect(division.parts.map { $0.map(\.ticket) } == [[4, 0], [1, 5]])
        #expect(division.later.map(\.ticket) == [2, 3])
        #expect(division.later.map(\.isLarge) == [true, false])
    }
}
