// SPDX-License-Identifier: Apache-2.0

internal import DequeModule
internal import TidemarkDomain
internal import TidemarkService

/// Notices of query subscriptions that are not known here yet. They wait until those of their user were read, and the user's later
/// ones wait behind them. Nobody else does. A pure value.
struct UnknownFirings {
    private struct Line {
        var notices: Deque<QueryNotice> = []
        /// How many came before the read that is under way.
        var askedCount = 0
        var hasLost = false
    }

    /// Reads at once.
    private static let readersMax = 4
    private let countMax: Int
    private let countOfOneMax: Int
    private var lines: [UserID: Line] = [:]
    /// Users of ``lines`` whose read has not begun.
    private var turns: Deque<UserID> = []
    private var readerCount = 0
    /// Readers that have not begun.
    private var newReaderCount = 0
    private var count = 0

    init(countMax: Int = 10_000) {
        self.countMax = countMax
        countOfOneMax = countMax / 10
    }

    /// Whether a notice of this user waits, so that the next one has to.
    func isWaiting(_ user: UserID) -> Bool { lines[user] != nil }

    /// Adds a notice. If there is no room for it, its user is told afterwards that there was one.
    mutating func add(_ notice: QueryNotice) {
        let user = notice.subscriber.user
        if lines[user] == nil { turns.append(user) }
        var line = lines[user] ?? Line()
        if count < countMax, line.notices.count < countOfOneMax {
            line.notices.append(notice)
            count += 1
        } else {
            line.hasLost = true
        }
        lines[user] = line
    }

    /// Whether one more is to read (``takeUser(isFirst:)``).
    mutating func addReader() -> Bool {
        guard readerCount < Self.readersMax, newReaderCount < turns.count else { return false }
        readerCount += 1
        newReaderCount += 1
        return true
    }

    /// The user whose subscriptions are read next. Nil: there is none, and this reader is done.
    ///
    /// - Parameter isFirst: whether it is the first one of this reader.
    mutating func takeUser(isFirst: Bool) -> UserID? {
        if isFirst { newReaderCount -= 1 }
        guard let user = turns.popFirst() else {
            readerCount -= 1
            return nil
        }
        let askedCount = lines[user]?.notices.count ?? 0
        lines[user]?.askedCount = askedCount
        return user
    }

    /// The subscriptions of a user were read, or cannot be.
    ///
    /// - Returns: what waited for it, in its order. What came meanwhile and is not known waits for one more read.
    mutating func areRead(
        of user: UserID, isKnown: (SubscriberKey) -> Bool
    ) -> (ready: [QueryNotice], hasLost: Bool) {
        guard var line = lines[user] else { return ([], false) }
        var ready: [QueryNotice] = []
        while let next = line.notices.first, ready.count < line.askedCount || isKnown(next.subscriber) {
            line.notices.removeFirst()
            ready.append(next)
        }
        count -= ready.count
        if line.notices.isEmpty {
            lines[user] = nil
            return (ready, line.hasLost)
        }
        lines[user] = line
        turns.append(user)
        return (ready, false)
    }
}
