// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain

@testable import TidemarkStore

/// How many relatives a transaction may read, and how a cut is noticed.
@Suite struct CascadeBoundsTests {
    private func bounds(_ relativesMax: Int..., names: [String] = ["a", "b"]) -> CascadeBounds {
        CascadeBounds(
            of: relativesMax.map { most in
                var read = ZoneRead(
                    key: ZoneKey(database: DatabaseID(1), name: "z"), recordNames: names, parentNames: [], lives: [])
                read.relativesMax = most
                return read
            })
    }

    @Test func `R-776: the statements return one row more than may be followed, and that one tells of the cut`() {
        let few = bounds(10)
        #expect(few.cascadeRowsMax == few.followedMax + 1)
        #expect(!few.isCascadeCut(rowCount: few.followedMax) && few.isCascadeCut(rowCount: few.cascadeRowsMax))
        #expect(few.childRowsMax == few.namedCount + few.followedMax + 1)
        #expect(!few.areChildrenCut(rowCount: few.childRowsMax - 1) && few.areChildrenCut(rowCount: few.childRowsMax))
        #expect(few.ancestorRowsMax == few.namedCount + 10 + 1)
        #expect(!few.areAncestorsCut(rowCount: few.ancestorRowsMax - 1))
        #expect(few.areAncestorsCut(rowCount: few.ancestorRowsMax))
    }

    @Test func `R-776: a group names what all of its reads name, and follows as much as the one that may most`() {
        let group = bounds(10, 30, 20)
        #expect(group.namedCount == 6 && group.followedMax == bounds(30).followedMax)
        #expect(group.ancestorRowsMax == 6 + 30 + 1)
    }

    @Test func `R-728: of a request with a place of its own a line of ancestors is never told to be cut`() {
        let all = bounds(.max)
        #expect(!all.areAncestorsCut(rowCount: all.ancestorRowsMax) && !all.areAncestorsCut(rowCount: .max))
        let none = CascadeBounds(of: [])
        #expect(none.namedCount == 0 && none.cascadeRowsMax == 1)
    }
}
