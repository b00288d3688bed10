// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain

@testable import TidemarkSessions

/// Which lists of zones are read, and when: no store, no session.
@Suite struct SharedListReadsTests {
    private let bob = DatabaseID(1)
    private let carol = DatabaseID(2)

    @Test func `R-739: of a viewer's list one read is under way, and one more follows however often it is wanted`() {
        var reads = SharedListReads()
        let begins = reads.want(bob)
        let isFirst = reads.takeNext(of: bob)
        #expect(begins && isFirst)
        for _ in 0..<100 {
            let beginsAgain = reads.want(bob)
            #expect(!beginsAgain)
            reads.wantLater(bob)
        }
        let other = reads.want(carol)
        #expect(other, "another's beside it")
        let isAgain = reads.takeNext(of: bob)
        let isThird = reads.takeNext(of: bob)
        #expect(isAgain && !isThird)
        let beginsLater = reads.beginsLater()
        #expect(!beginsLater)
        let beginsAnew = reads.want(bob)
        #expect(beginsAnew)
    }

    @Test func `R-723: what others cause is read one after another, each list once`() {
        var reads = SharedListReads()
        for _ in 0..<3 { for viewer in [bob, carol] { reads.wantLater(viewer) } }
        let begins = reads.beginsLater()
        let beginsTwice = reads.beginsLater()
        #expect(begins && !beginsTwice)
        for viewer in [bob, carol] {
            let taken = reads.takeLater()
            #expect(taken == viewer)
            let isWanted = reads.takeNext(of: viewer)
            let isWantedAgain = reads.takeNext(of: viewer)
            #expect(isWanted && !isWantedAgain)
        }
        let last = reads.takeLater()
        #expect(last == nil)
        // What was read meanwhile, or is wanted no more, is passed over.
        for viewer in [bob, carol] { reads.wantLater(viewer) }
        _ = reads.want(bob)
        while reads.takeNext(of: bob) {}
        reads.forget(carol)
        let beginsAgain = reads.beginsLater()
        let nothing = reads.takeLater()
        #expect(beginsAgain && nothing == nil)
    }

    @Test func `I-4: a list that could not be read waits until somebody reads again`() {
        var reads = SharedListReads()
        reads.wantLater(bob)
        _ = reads.beginsLater()
        let taken = reads.takeLater()
        let isWanted = reads.takeNext(of: bob)
        #expect(taken == bob && isWanted)
        reads.failed(bob)
        reads.pauseLater()
        let begins = reads.beginsLater()
        let again = reads.takeLater()
        #expect(begins && again == bob)
    }
}
