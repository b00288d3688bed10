// SPDX-License-Identifier: Apache-2.0

internal import TidemarkWire

/// Which pushes of one connection a client has heard, by their numbers: notices those that were lost, and acknowledges
/// the others. A pure value, a part of ``ConnectionMachine``. What a lost push means for a feed, ``FeedFollowMachine`` decides.
struct HeardPushes {
    /// The number of the last one; those that were missed count as heard, since a fetch makes up for them.
    private var heard: UInt64 = 0
    private var acknowledged: UInt64 = 0

    /// How a push stands to those that were heard.
    enum Arrival {
        case next
        /// Others were missed before it.
        case afterGap
        /// It was heard, or missed and made up for. What it brings is old, and must not replace what came since.
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

    /// The request, which acknowledges what was heard if the server does not know that yet.
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
