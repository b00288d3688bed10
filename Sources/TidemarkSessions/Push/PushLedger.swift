// SPDX-License-Identifier: Apache-2.0

/// What was pushed over one connection, and what of it the device says that it heard. Values in, values out.
struct PushLedger: Sendable {
    /// How many pushes were sent: the number of the last one.
    private(set) var sent: UInt64 = 0
    private var heard: UInt64 = 0
    /// Since when something has been owed, or since the last reminder of it; nil: all is acknowledged.
    private var owedSince: Duration?
    private var wasReminded = false
    /// How many were counted as not acknowledged already, or acknowledged.
    private var counted: UInt64 = 0

    /// One more.
    ///
    /// - Returns: its number.
    mutating func push(at now: Duration) -> UInt64 {
        sent += 1
        if owedSince == nil { owedSince = now }
        return sent
    }

    /// The device acknowledges so many.
    mutating func heard(_ count: UInt64, at now: Duration) {
        // More were not sent: whoever says so is not believed.
        guard count > heard, count <= sent else { return }
        heard = count
        counted = max(counted, count)
        wasReminded = false
        owedSince = count == sent ? nil : now
    }

    /// What answers say while a push is not acknowledged; nil: nothing.
    var owed: UInt64? { owedSince == nil ? nil : sent }

    /// Whether the device is to be reminded, since it has acknowledged nothing for so long.
    ///
    /// - Returns: how many pushes of earlier reminders it still has not acknowledged; nil: it is too early, or nothing is owed.
    mutating func remind(at now: Duration, after patience: Duration) -> Int? {
        guard let since = owedSince, now - since >= patience else { return nil }
        owedSince = now
        defer { wasReminded = true }
        return wasReminded ? countUnacknowledged() : 0
    }

    /// The connection is gone.
    ///
    /// - Returns: how many pushes were not acknowledged, though there was time for it.
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
