// SPDX-License-Identifier: Apache-2.0

internal import TidemarkFairness

/// Which kinds of queries do not end soon, so that they need not be tried among the short ones first.
///
/// | a kind is | after | its queries begin |
/// | --- | --- | --- |
/// | unknown | one that ended soon, or a minute in which none was late | among the short ones |
/// | suspected | one that was late | among the short ones |
/// | slow | one more that was late | among the long ones |
///
/// One late query is not enough, because a busy machine delays others too. A kind is of one owner: what somebody else asks
/// changes nothing for it. Owners share the places. Whoever loses a mark tries again.
struct SlowQueries {
    /// What is alike in queries of one owner.
    struct Kind: Hashable {
        let owner: WorkOwner
        /// The hash of the statement's text, which has no values.
        private let textHash: Int

        init(_ text: String, of owner: WorkOwner) {
            self.owner = owner
            var hasher = Hasher()
            hasher.combine(text)
            textHash = hasher.finalize()
        }
    }

    private struct Mark {
        let lateCount: Int
        let lastLate: Duration

        func isFresh(at now: Duration) -> Bool { now - lastLate < SlowQueries.lifetime }
    }

    /// How often in a row queries of a kind are late until it is slow.
    static let lateMin = 2
    static let lifetime = Duration.seconds(60)
    static let countPerOwnerMax = 32

    private var marks = FairTable<Kind, Mark>(count: 256, perOwner: SlowQueries.countPerOwnerMax)

    mutating func isSlow(_ kind: Kind, at now: Duration) -> Bool {
        guard marks.count > 0, let mark = marks.use(kind), mark.isFresh(at: now) else { return false }
        return mark.lateCount >= Self.lateMin
    }

    /// A query did not end in the time that short ones have, wherever it began.
    mutating func noteLate(_ kind: Kind, at now: Duration) {
        let before = marks.remove(kind).flatMap { $0.isFresh(at: now) ? $0.lateCount : nil } ?? 0
        _ = marks.insert(Mark(lateCount: before + 1, lastLate: now), for: kind, of: kind.owner)
    }

    /// A query ended in that time.
    mutating func noteSoon(_ kind: Kind) {
        guard marks.count > 0 else { return }
        marks.remove(kind)
    }
}
