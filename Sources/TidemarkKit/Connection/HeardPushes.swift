// SPDX-License-Identifier: Apache-2.0

internal import TidemarkWire

/// The pushes of one connection that a client has received, by their numbers. It notices lost pushes, and acknowledges the others.
/// A pure value, a part of ``ConnectionMachine``. ``FeedFollowMachine`` decides what a lost push means for a feed.
struct HeardPushes {
    /// The number of the last one; those that were missed count as heard, since a fetch makes up for them.
    private var heard: UInt64 = 0
    private var acknowledged: UInt64 = 0

    /// How a push stands to those that were heard.
    enum Arrival {
        case next
        /// Others were missed before it.
        case afterGap
        /// It was heard, or missed and made up for. Its contents are old, and must not replace newer ones.
        case again
    }

    /// A push came.
    ///
    /// - Parameter number: 0: the server does not count.
    mutating func pushed(_ number: UInt64) -> Arrival {
        guard number > 0 else { return .next }
        guard number > heard else { return .again }
        defer { heard = number }
        return number - heard > 1 ? .afterGap : .next
    }

    /// The server says how many pushes it has sent.
    ///
    /// - Returns: whether the last ones were missed.
    mutating func told(of count: UInt64) -> Bool {
        guard count > heard else { return false }
        heard = count
        return true
    }

    /// The request, with an acknowledgement of the received pushes if the server does not have it yet.
    mutating func acknowledging(with request: [UInt8]) -> [UInt8] {
        guard acknowledged < heard, PushCount.fits(request) else { return request }
        var request = request
        PushCount.append(heard: heard, to: &request)
        acknowledged = heard
        return request
    }

    /// The answer to a reminder.
    mutating func acknowledgement() -> [UInt8] {
        acknowledged = 0
        return acknowledging(with: [])
    }
}
