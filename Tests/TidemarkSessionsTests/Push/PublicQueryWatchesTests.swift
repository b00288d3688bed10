// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkService
import TidemarkTestSupport

@testable import TidemarkSessions

/// What a sweep concludes of public databases, alone: no store, no session.
@Suite struct PublicQueryWatchesTests {
    private let database = DatabaseID(1)

    /// Of a database with one zone, which has this change number.
    private static func mark(_ number: ChangeNumber) -> ChangeMark { ChangeMark(value: number + 1, zoneCount: 1) }

    private func changes(_ after: ChangeNumber, _ upTo: ChangeNumber) -> EvaluatedChanges {
        EvaluatedChanges(database: database, part: ChangeRanges.Part(after: after, upTo: upTo))
    }

    /// A change that was posted, or whose notices were lost, and the sweeps since.
    private struct Change {
        let part: ChangeRanges.Part
        var sweepCount = 0
    }

    @Test func `R-263: what is lost is told with the second sweep, and nobody is told while nothing is`() {
        for seed in 1...600 as ClosedRange<UInt64> {
            var random = SeededRandom(seed: seed)
            func any(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }
            let losesSome = seed % 3 == 0
            var watches = PublicQueryWatches()
            var number = ChangeNumber(any(5))
            watches.starts(database, at: Self.mark(number))
            // Notices on their way, and changes of which nobody was told.
            var (coming, owed): ([Change], [Change]) = ([], [])
            func deliver(_ change: Change) { watches.evaluated(changes(change.part.after, change.part.upTo)) }
            for _ in 0..<80 {
                switch any(5) {
                case 0, 1:
                    let part = ChangeRanges.Part(after: number, upTo: number + 1 + ChangeNumber(any(3)))
                    number = part.upTo
                    if losesSome, any(4) == 0 {
                        owed.append(Change(part: part))
                    } else {
                        coming.append(Change(part: part))
                    }
                case 2, 3:
                    // In any order, and some twice.
                    guard !coming.isEmpty else { continue }
                    let index = any(coming.count)
                    deliver(coming[index])
                    if any(3) > 0 { coming.remove(at: index) }
                default:
                    for change in coming where change.sweepCount > 0 { deliver(change) }
                    coming.removeAll { $0.sweepCount > 1 }
                    let isTold = watches.swept(database, Self.mark(number))
                    #expect(!isTold || !owed.isEmpty, "seed \(seed): nothing was lost")
                    if isTold { owed = [] }
                    for index in owed.indices { owed[index].sweepCount += 1 }
                    for index in coming.indices { coming[index].sweepCount += 1 }
                    #expect(owed.allSatisfy { $0.sweepCount < 2 }, "seed \(seed): not told")
                }
            }
        }
    }

    @Test func `R-263: without a mark at the start the next sweep tells, and so does a store that was restored`() {
        var watches = PublicQueryWatches()
        let known = watches.watches(database)
        let first = watches.swept(database, Self.mark(7))
        let second = watches.swept(database, Self.mark(7))
        #expect(!known && first && !second && watches.watches(database))
        let restored = watches.swept(database, Self.mark(3))
        let after = watches.swept(database, Self.mark(3))
        #expect(restored && !after)
        // A later device reads none in its place.
        watches.starts(database, at: Self.mark(9))
        let late = (0..<2).map { _ in watches.swept(database, Self.mark(9)) }
        #expect(late == [false, true])
        watches.keep([DatabaseID(2)])
        #expect(!watches.watches(database))
    }

    @Test func `R-263: after a gap all are told at once, and what comes late is no loss`() {
        var watches = PublicQueryWatches()
        watches.starts(database, at: Self.mark(5))
        let told = watches.swept(database, Self.mark(8), isAfterGap: true)
        watches.evaluated(changes(6, 8))
        watches.evaluated(changes(8, 9))
        let rest = (0..<3).map { _ in watches.swept(database, Self.mark(9)) }
        #expect(told && rest == [false, false, false])
    }

    @Test func `R-263: a database with other zones than one is told of each change`() {
        var watches = PublicQueryWatches()
        // One zone that has ended at number 4, and one that lives.
        func mark(_ number: ChangeNumber) -> ChangeMark { ChangeMark(value: 4 + 2 + number + 1, zoneCount: 2) }
        watches.starts(database, at: mark(0))
        watches.evaluated(changes(0, 1))
        let told = (0..<3).map { _ in watches.swept(database, mark(1)) }
        #expect(told == [false, true, false])
    }
}
