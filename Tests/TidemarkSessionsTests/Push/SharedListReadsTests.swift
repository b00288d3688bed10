// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkTestSupport

@testable import TidemarkSessions

/// Which lists of zones are read, and when: no store, no session.
@Suite struct SharedListReadsTests {
    private let bob = DatabaseID(1)
    private let carol = DatabaseID(2)
    /// Of both.
    private let account = AccountID(1)

    @Test func `R-739: of a viewer's list one read is under way, and one more follows however often it is wanted`() {
        var reads = SharedListReads()
        let begins = reads.want(bob)
        let isFirst = reads.takeNext(of: bob)
        #expect(begins && isFirst)
        for _ in 0..<100 {
            let beginsAgain = reads.want(bob)
            #expect(!beginsAgain)
            reads.wantLater(bob, of: account)
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
        for _ in 0..<3 { for viewer in [bob, carol] { reads.wantLater(viewer, of: account) } }
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
        for viewer in [bob, carol] { reads.wantLater(viewer, of: account) }
        _ = reads.want(bob)
        while reads.takeNext(of: bob) {}
        reads.forget(carol)
        let beginsAgain = reads.beginsLater()
        let nothing = reads.takeLater()
        #expect(beginsAgain && nothing == nil)
    }

    /// An account may have a list in each of very many containers.
    @Test func `R-723: of lists that others cause to be read accounts take turns`() {
        var reads = SharedListReads()
        let crowd = (1...100).map { DatabaseID($0) }
        for viewer in crowd { reads.wantLater(viewer, of: AccountID(1)) }
        let others = [DatabaseID(201), DatabaseID(202)]
        for viewer in others { reads.wantLater(viewer, of: AccountID(2)) }
        reads.wantLater(DatabaseID(301), of: AccountID(3))
        let begins = reads.beginsLater()
        #expect(begins)
        var order: [DatabaseID] = []
        while let viewer = reads.takeLater() {
            order.append(viewer)
            while reads.takeNext(of: viewer) {}
            // Each is wanted again at once.
            if order.count <= 4 { reads.wantLater(viewer, of: AccountID(1)) }
        }
        #expect(order.prefix(5) == [crowd[0], others[0], DatabaseID(301), crowd[1], others[1]])
        #expect(order.count == 107 && Set(order).count == 103)
    }

    @Test func `I-4: a list that could not be read waits until somebody reads again`() {
        var reads = SharedListReads()
        reads.wantLater(bob, of: account)
        _ = reads.beginsLater()
        let taken = reads.takeLater()
        let isWanted = reads.takeNext(of: bob)
        #expect(taken == bob && isWanted)
        reads.failed(bob, of: account)
        reads.pauseLater()
        let begins = reads.beginsLater()
        let again = reads.takeLater()
        #expect(begins && again == bob)
    }

    @Test func `I-4: what is read while the list changes, or while nobody wants it any more, counts for nothing`() {
        var reads = SharedListReads()
        reads.outdate(bob)
        _ = reads.want(bob)
        _ = reads.takeNext(of: bob)
        #expect(!reads.isOutdated(bob), "no read was under way")
        for forgets in [true, false] {
            if forgets { reads.forget(bob) } else { reads.outdate(bob) }
            #expect(reads.isOutdated(bob))
            let begins = reads.want(bob)
            #expect(!begins && reads.isOutdated(bob) && reads.isWanted(bob))
            let isNext = reads.takeNext(of: bob)
            #expect(isNext && !reads.isOutdated(bob) && !reads.isWanted(bob))
        }
        reads.outdate(bob)
        reads.failed(bob, of: account)
        #expect(!reads.isOutdated(bob) && reads.isWanted(bob))
    }

    @Test func `R-739, I-4: in any history nobody reads a list beside another, and each that is wanted is read`() {
        var random = SeededRandom()
        print("reads of lists: TIDEMARK_TEST_SEED=\(random.seed)")
        for _ in 0..<300 {
            var history = ReadsHistory()
            for _ in 0..<60 { history.step(&random) }
            history.drain()
            #expect(history.complaints.isEmpty, "TIDEMARK_TEST_SEED=\(random.seed)")
        }
    }
}

/// Who reads which lists, in the order in which it happened.
private struct ReadsHistory {
    private static let viewers = (1...3).map { DatabaseID($0) }

    /// One has two of the lists.
    private static func account(of viewer: DatabaseID) -> AccountID { AccountID(viewer.rawValue / 2) }

    private var reads = SharedListReads()
    private var readers: Set<DatabaseID> = []
    private var isReadingLater = false
    /// Those that must be read from the beginning before all is done.
    private var owed: Set<DatabaseID> = []
    private(set) var complaints: [String] = []

    mutating func step(_ random: inout SeededRandom) {
        let viewer = random.pick(Self.viewers)
        switch random.below(8) {
        case 0:
            owed.insert(viewer)
            if reads.want(viewer) { begin(viewer) }
        case 1:
            owed.insert(viewer)
            reads.wantLater(viewer, of: Self.account(of: viewer))
        case 2:
            owed.remove(viewer)
            reads.forget(viewer)
        case 3: reads.outdate(viewer)
        case 4: takeLater()
        case 5: fail(viewer)
        default: goOn(viewer)
        }
    }

    private mutating func begin(_ viewer: DatabaseID) {
        guard readers.insert(viewer).inserted else { return complaints.append("\(viewer) is read twice") }
        goOn(viewer)
    }

    /// A read ends, if one is under way, and the next one of the list begins.
    private mutating func goOn(_ viewer: DatabaseID) {
        guard readers.contains(viewer) else { return }
        if reads.takeNext(of: viewer) {
            owed.remove(viewer)
            if reads.isOutdated(viewer) { complaints.append("\(viewer) is outdated as it begins") }
        } else {
            readers.remove(viewer)
        }
    }

    private mutating func fail(_ viewer: DatabaseID) {
        guard readers.remove(viewer) != nil else { return }
        owed.insert(viewer)
        reads.failed(viewer, of: Self.account(of: viewer))
    }

    private mutating func takeLater() {
        if !isReadingLater { isReadingLater = reads.beginsLater() }
        guard isReadingLater else { return }
        guard let viewer = reads.takeLater() else { return isReadingLater = false }
        begin(viewer)
    }

    /// Everybody reads until nothing is left.
    mutating func drain() {
        for _ in 0..<100 {
            takeLater()
            for viewer in Self.viewers { goOn(viewer) }
        }
        if !readers.isEmpty { complaints.append("\(readers) go on for ever") }
        if !owed.isEmpty { complaints.append("\(owed) were not read") }
    }
}
