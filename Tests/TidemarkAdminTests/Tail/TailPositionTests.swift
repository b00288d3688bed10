// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain

@testable import TidemarkAdmin

@Suite struct TailPositionTests {
    private func zone(_ id: Int64, at number: ChangeNumber) -> ZoneState {
        ZoneState(
            id: ZoneID(id), key: ZoneKey(database: DatabaseID(1), name: "z\(id)"),
            createdAt: Timestamp(milliseconds: 0),
            changeNumber: number, oldestTokenNumber: 0)
    }

    @Test func `R-872: a position is read as it is written, and nothing else is a position`() {
        let position = TailPosition(zone: ZoneID(12), change: 1 << 45)
        #expect(TailPosition(argument: position.description) == position)
        for text in ["", "1", "1.", ".1", "1.2.3", "a.1", "-1.2", "0.1", "1.-2", "1 .2"] {
            #expect(TailPosition(argument: text) == nil, "\(text)")
        }
    }

    @Test func `R-872: what was there before is not shown, but after a position it is`() {
        var progress = TailProgress(
            [zone(1, at: 5), zone(2, at: 5)], after: [TailPosition(zone: ZoneID(2), change: 3)])
        #expect(progress.start(of: zone(1, at: 5)) == nil)
        #expect(progress.start(of: zone(1, at: 6)) == 5)
        #expect(progress.start(of: zone(2, at: 5)) == 3)
        #expect(progress.start(of: zone(3, at: 1)) == 0, "a new zone is followed from its beginning")
        progress.advance(ZoneID(2), to: 5)
        #expect(progress.start(of: zone(2, at: 5)) == nil)
        progress.advance(ZoneID(2), to: 4)
        #expect(progress.start(of: zone(2, at: 5)) == nil, "it never goes back")
        progress.keep(only: [zone(1, at: 6)])
        #expect(progress.start(of: zone(1, at: 6)) == 5)
        #expect(progress.start(of: zone(2, at: 5)) == 0)
    }
}
