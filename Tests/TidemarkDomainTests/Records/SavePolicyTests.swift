// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain

/// The truth table of saving, row by row.
@Suite struct SavePolicyTests {
    private static func tag(_ number: ChangeNumber, zone: Int64 = 1, store: UInt64 = 1) -> ChangeTag {
        .version(store: StoreIncarnation(store), zone: ZoneID(zone), number: number)
    }

    @Test func `R-090 … R-096: a save of what is unchanged compares the tags`() {
        let current = Self.tag(5)
        let rows: [(tag: ChangeTag?, current: ChangeTag?, verdict: SaveVerdict)] = [
            (nil, nil, .create), (nil, current, .refuse(.recordExists)), (current, current, .update),
            (Self.tag(4), current, .refuse(.recordChanged)), (Self.tag(6), current, .refuse(.recordChanged)),
            (Self.tag(5, zone: 2), current, .refuse(.recordChanged)),
            (Self.tag(5, store: 2), current, .refuse(.recordChanged)), (.foreign, current, .refuse(.recordChanged)),
            (current, nil, .refuse(.recordMissing)), (.foreign, nil, .refuse(.recordMissing)),
        ]
        for row in rows {
            let verdict = SavePolicy.ifServerRecordUnchanged.verdict(tag: row.tag, current: row.current)
            #expect(verdict == row.verdict, "\(row)")
        }
    }

    @Test(arguments: [SavePolicy.changedKeys, .allKeys])
    func `R-097 … R-104: the other policies compare no tags`(policy: SavePolicy) {
        for tag in [nil, Self.tag(5), Self.tag(4), .foreign] {
            #expect(policy.verdict(tag: tag, current: nil) == .create)
            #expect(policy.verdict(tag: tag, current: Self.tag(5)) == .update)
        }
    }
}
