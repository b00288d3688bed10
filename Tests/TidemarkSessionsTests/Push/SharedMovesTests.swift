// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkFields
import TidemarkService

@testable import TidemarkSessions

/// How changes come to those who have zones in their lists: no store, no session.
@Suite struct SharedMovesTests {
    private func notice(_ zone: String, of owner: Int64 = 1, by life: UInt64 = 1, shares: Bool = false) -> ZoneNotice {
        ZoneNotice(
            database: DatabaseID(owner), life: DeviceID(high: 0, low: life), zoneName: zone, changesShares: shares)
    }

    private func viewers(_ numbers: ClosedRange<Int64>) -> [DatabaseID] { numbers.map { DatabaseID($0) } }

    @Test func `R-723: a change comes to thousands of viewers in steps, each once, and owners take turns`() {
        var moves = SharedMoves()
        moves.add(notice("a"), to: viewers(1...1_000))
        moves.add(notice("b", of: 2), to: viewers(1...3))
        var told: [Int64: [DatabaseID]] = [:]
        var owners: [Int64] = []
        while let step = moves.take(100) {
            #expect(step.viewers.count <= 100)
            told[step.zone.database.rawValue, default: []] += step.viewers
            owners.append(step.zone.database.rawValue)
        }
        #expect(told == [1: viewers(1...1_000), 2: viewers(1...3)])
        #expect(owners.count == 11 && owners.firstIndex(of: 2) == 1)
        #expect(moves.isEmpty)
    }

    @Test func `R-253, I-7: changes that wait are one, and those after its beginning are told to all`() {
        var moves = SharedMoves()
        for life in 1...50 as ClosedRange<UInt64> { moves.add(notice("a", by: life), to: viewers(1...4)) }
        let first = moves.take(2)
        #expect(first?.lives.count == 2 && first?.changesLists == false)
        moves.add(notice("a", by: 7), to: viewers(1...3))
        moves.add(notice("a", by: 7, shares: true), to: viewers(1...3))
        let second = moves.take(2)
        #expect(second.map { Array($0.viewers) } == viewers(3...4) && second?.changesLists == false)
        let third = moves.take(9)
        #expect(third.map { Array($0.viewers) } == viewers(1...3) && third?.changesLists == true)
        #expect(third?.lives == [DeviceID(high: 0, low: 7)])
        let rest = moves.take(9)
        #expect(rest.map { $0.zone } == nil && moves.isEmpty)
    }

    @Test func `R-262: types of changes that wait gather, and any may be seen once the access has changed`() {
        func types(_ name: String) -> ChangedTypes { Self.types(name) }
        var moves = SharedMoves()
        moves.add(notice("a"), types: types("Note"), to: viewers(1...2))
        moves.add(notice("a"), types: types("Task"), to: viewers(1...2))
        let both = moves.take(1)?.types
        #expect(both?.mayInclude("Note") == true && both?.mayInclude("Task") == true)
        #expect(both?.mayInclude("Other") == false)
        // To the rest of its viewers the change is told as it was.
        moves.add(notice("a"), types: types("Other"), to: viewers(1...2))
        let rest = moves.take(1)
        #expect(rest?.types == both && rest.map { Array($0.viewers) } == viewers(2...2))
        let later = moves.take(9)
        #expect(later?.types == types("Other"))
        moves.add(notice("a", shares: true), types: types("Note"), to: viewers(1...1))
        let shared = moves.take(9)
        #expect(shared?.types == .any)
        moves.add(notice("a"), types: types("Note"), to: viewers(1...1))
        moves.add(notice("a"), to: viewers(1...1))
        let unknown = moves.take(9)
        #expect(unknown?.types == .any)
    }

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

    @Test func `R-327: when the set of an owner's zones changes, lists may have changed`() {
        var moves = SharedMoves()
        moves.add(notice(""), to: viewers(1...1))
        let step = moves.take(9)
        #expect(step?.changesLists == true && step?.zone.name.isEmpty == true)
    }
}
