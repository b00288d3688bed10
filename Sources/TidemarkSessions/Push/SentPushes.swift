// SPDX-License-Identifier: Apache-2.0

/// The pushes of one connection, and how many of them the device has acknowledged. A pure value, a part of
/// ``DevicePushMachine``.
struct SentPushes: Sendable {
    /// How many pushes were sent; also the number of the last one.
    private(set) var sent: UInt64 = 0
    private var acknowledgedCount: UInt64 = 0
    /// When the oldest unacknowledged push was sent, or when the device was last reminded or last acknowledged some. Nil
    /// if all are acknowledged.
    private var owedSince: Duration?
    private var wasReminded = false
    /// How many pushes have been acknowledged, or already counted as unacknowledged.
    private var counted: UInt64 = 0

    /// Counts one more push.
    ///
    /// - Returns: its number.
    mutating func push(at now: Duration) -> UInt64 {
        sent += 1
        if owedSince == nil { owedSince = now }
        return sent
    }

    /// The device acknowledges this many pushes.
    ///
    /// - Returns: how many it had not acknowledged before.
    @discardableResult
    mutating func acknowledged(_ count: UInt64, at now: Duration) -> Int {
        // A device cannot acknowledge more than was sent; such a count is ignored.
        guard count > acknowledgedCount, count <= sent else { return 0 }
        defer { acknowledgedCount = count }
        counted = max(counted, count)
        wasReminded = false
        owedSince = count == sent ? nil : now
        return Int(clamping: count - acknowledgedCount)
    }

    /// The count that answers carry while a push is unacknowledged; nil otherwise.
    var owed: UInt64? { owedSince == nil ? nil : sent }

    /// Whether to remind the device, because it has acknowledged nothing for this long.
    ///
    /// - Returns: how many pushes of earlier reminders are still unacknowledged; nil if it is too early, or if nothing
    ///   is owed.
    mutating func remind(at now: Duration, after patience: Duration) -> Int? {
        guard let since = owedSince, now - since >= patience else { return nil }
        owedSince = now
        defer { wasReminded = true }
        return wasReminded ? countUnacknowledged() : 0
    }

    /// The connection has ended.
    ///
    /// - Returns: how many pushes were not acknowledged although there was time for it.
    mutating func end(at now: Duration, after patience: Duration) -> Int {
        guard let since = owedSince, wasReminded || now - since >= patience else { return 0 }
        owedSince = nil
        return countUnacknowledged()
    }

    private mutating func countUnacknowledged() -> Int {
        defer { counted = sent }
        return Int(clamping: sent - counted)
    }
}
