// SPDX-License-Identifier: Apache-2.0

/// Decides which failures get a separate line in the log, and which are only counted: a pure value.
///
/// The first failure of a kind is written at once. Later ones are counted, and the count is due after `interval`. A kind
/// that was quiet for so long is new again. Each failure is written or counted, exactly once.
package struct FailureLimiter<Kind: Hashable & Sendable>: Sendable {
    /// What to do with a failure.
    package enum Verdict: Equatable, Sendable {
        /// Write a line.
        ///
        /// - earlier: failures that were counted and are in no line yet.
        case write(earlier: Int)
        /// Write nothing now: ``FailureLimiter/due(at:)`` tells the count.
        case count
    }

    /// Failures of one kind that are in no line yet.
    package struct Repeats: Equatable, Sendable {
        /// Nil: of the kinds for which there was no room.
        package let kind: Kind?
        package let count: Int
        /// How long they were counted.
        package let time: Duration
    }

    private struct Entry {
        /// When the last line of the kind was written, or its last count.
        let since: Duration
        /// When it last happened.
        var lastAt: Duration
        var count = 0
    }

    private let interval: Duration
    private let kindsMax: Int
    private var kinds: [Kind: Entry] = [:]
    /// All kinds without room in ``kinds``, as one kind.
    private var others: Entry?

    /// - Parameters:
    ///   - interval: a kind gets at most one line in this time, and one count.
    ///   - kindsMax: the most kinds that are kept apart at once. Further ones are treated as one kind.
    package init(interval: Duration, kindsMax: Int) {
        self.interval = interval
        self.kindsMax = kindsMax
    }

    /// A failure has happened.
    package mutating func note(_ kind: Kind, at now: Duration) -> Verdict {
        if kinds[kind] == nil, kinds.count >= kindsMax {
            kinds = kinds.filter { $1.count > 0 || now - $1.since < interval }
        }
        guard kinds[kind] != nil || kinds.count < kindsMax else { return Self.note(&others, at: now, interval) }
        return Self.note(&kinds[kind], at: now, interval)
    }

    private static func note(_ entry: inout Entry?, at now: Duration, _ interval: Duration) -> Verdict {
        if let known = entry, now - known.since < interval, now - known.lastAt < interval {
            entry?.count += 1
            entry?.lastAt = now
            return .count
        }
        defer { entry = Entry(since: now, lastAt: now) }
        return .write(earlier: entry?.count ?? 0)
    }

    /// The counts whose interval has ended. Kinds that were quiet for an interval are forgotten.
    package mutating func due(at now: Duration) -> [Repeats] {
        let interval = interval
        return take(at: now) { now - $0.since >= interval }
    }

    /// All counts, before the program ends.
    package mutating func end(at now: Duration) -> [Repeats] {
        take(at: now) { _ in true }
    }

    private mutating func take(at now: Duration, _ isDue: (Entry) -> Bool) -> [Repeats] {
        var repeats: [Repeats] = []
        func next(_ kind: Kind?, _ entry: Entry) -> Entry? {
            guard isDue(entry) else { return entry }
            guard entry.count > 0 else { return nil }
            repeats.append(Repeats(kind: kind, count: entry.count, time: now - entry.since))
            // Still the same trouble: what follows is counted as well.
            return Entry(since: now, lastAt: entry.lastAt)
        }
        for (kind, entry) in kinds { kinds[kind] = next(kind, entry) }
        others = others.flatMap { next(nil, $0) }
        return repeats
    }
}
