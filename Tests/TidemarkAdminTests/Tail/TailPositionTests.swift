// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkBytes
import TidemarkDomain

@testable import TidemarkAdmin

@Suite struct TailPositionTests {
    private func zone(_ id: Int64, at number: ChangeNumber) -> ZoneState {
        ZoneState(
            id: ZoneID(id), key: ZoneKey(database: DatabaseID(1), name: "z\(id)"),
            createdAt: Timestamp(milliseconds: 0),
            changeNumber: number, oldestTokenNumber: 0)
    }

    private let database = DatabaseID(1)

    private func after(_ text: String) throws -> TailStart { try #require(TailStart(argument: text)) }

    @Test func `R-872: a position is read as it is written, and nothing else is a position`() {
        let position = TailStart.zone(TailPosition(zone: ZoneID(12), change: 1 << 45))
        #expect(TailStart(argument: position.description) == position)
        for text in ["", "1", "1.", ".1", "1.2.3", "a.1", "-1.2", "0.1", "1.-2", "1 .2"] {
            #expect(TailStart(argument: text) == nil, "\(text)")
        }
    }

    @Test(
        arguments: [
            [:], [1: 0], [1: 5, 2: 0, 200: 127, 201: 128, 70_000: 1 << 45], [.max: .max], [1: .max, .max: 1],
        ] as [[Int64: Int64]])
    func `R-913: a position of many zones is read as it is written`(_ numbers: [Int64: Int64]) {
        let heads = Dictionary(uniqueKeysWithValues: numbers.map { (ZoneID($0), $1) })
        let text = TailStart.all(heads).description
        #expect(text.allSatisfy { $0.isLetter || $0.isNumber || "-_".contains($0) }, "\(text)")
        #expect(TailStart(argument: text) == .all(heads), "\(text)")
    }

    /// A step without a change, a step of 0, an overflow, a number of ten bytes, and no Base64.
    @Test(arguments: [[1], [0, 1], [1, 0x80], [UInt8](repeating: 0xFF, count: 12)])
    func `R-913: what is no position of many zones is none`(_ bytes: [UInt8]) {
        #expect(TailStart(argument: "all-" + Base64.encodeURLSafe(bytes)) == nil)
        #expect(TailStart(argument: "all-?") == nil)
    }

    @Test func `R-872: what was there before is not shown, but after a position it is`() throws {
        var progress = TailProgress(after: [try after("2.3")])
        progress.begin(database, [zone(1, at: 5), zone(2, at: 5)])
        #expect(progress.start(of: zone(1, at: 5)) == nil)
        #expect(progress.start(of: zone(1, at: 6)) == 5)
        #expect(progress.start(of: zone(2, at: 5)) == 3)
        #expect(progress.start(of: zone(3, at: 1)) == 0, "a new zone is followed from its beginning")
        progress.advance(zone(2, at: 5), to: 5)
        #expect(progress.start(of: zone(2, at: 5)) == nil)
        progress.advance(zone(2, at: 5), to: 4)
        #expect(progress.start(of: zone(2, at: 5)) == nil, "it never goes back")
        progress.keep(only: [zone(1, at: 6)], in: database)
        #expect(progress.start(of: zone(1, at: 6)) == 5)
        #expect(progress.start(of: zone(2, at: 5)) == 0)
    }

    @Test func `R-913: after a position of all, zones and databases that came since are shown from their beginning`()
        throws
    {
        var first = TailProgress()
        first.begin(database, [zone(1, at: 5), zone(2, at: 7)])
        first.advance(zone(1, at: 6), to: 6)
        let resumed = [try after(first.position.description), try after("2.9")]
        var progress = TailProgress(after: resumed)
        progress.begin(database, [zone(1, at: 8), zone(2, at: 12), zone(3, at: 1)])
        #expect(progress.start(of: zone(1, at: 8)) == 6)
        #expect(progress.start(of: zone(2, at: 12)) == 9, "the line after it counts")
        #expect(progress.start(of: zone(3, at: 1)) == 0)
        #expect(progress.zoneCount == 3)
        var fresh = TailProgress()
        fresh.begin(database, [zone(4, at: 2)], isNew: true)
        #expect(fresh.start(of: zone(4, at: 2)) == 0)
        #expect(fresh.position == .all([ZoneID(4): 0]))
    }
}
