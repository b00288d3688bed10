// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing
import TidemarkDomain
import TidemarkFields
import TidemarkScheduling
import TidemarkTestSupport

@testable import TidemarkSessions

@Suite struct SelectionTurnsTests {
    private func record(textBytes: Int) throws -> RecordState {
        let fields = try FieldMap([
            Field("count", .int64(3)), Field("text", .string(String(repeating: "x", count: textBytes))),
        ])
        return RecordState(
            name: "r", type: "Note", fields: fields, changeNumber: 1, isDeleted: false, parent: nil,
            createdAt: Timestamp(milliseconds: 1), createdBy: UserID(7), createdByDevice: DeviceID(high: 0, low: 1),
            modifiedAt: Timestamp(milliseconds: 1), modifiedBy: UserID(7), batchEnd: 1)
    }

    @Test func `R-736: while the wanted fields of a large page are selected, others have their turn`() throws {
        let expected = try FieldMap([Field("count", .int64(3))])
        let page = Array(repeating: try record(textBytes: 4_096), count: 1_000)
        for (records, othersCount) in [(Array(page.prefix(50)), 0), (page, 1)] {
            let scheduler = ManualScheduler()
            let others = Mutex(0)
            let (selected, between) = try scheduler.complete {
                scheduler.run { others.withLock { $0 += 1 } }
                let selected = await FieldSelection(["count", "missing"]).fields(of: records)
                return (selected, others.withLock { $0 })
            }
            #expect(between == othersCount)
            #expect(selected.count == records.count && selected.allSatisfy { $0 == expected })
        }
    }
}
