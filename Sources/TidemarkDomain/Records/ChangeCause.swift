// SPDX-License-Identifier: Apache-2.0

/// The cause of a change of a record: the UUID of a request, or of an operator's command.
///
/// The rules never read it. It is stored with the change, and only operators see it.
package struct ChangeCause: Hashable, Sendable {
    /// The first eight bytes. Those of one session's requests are the same.
    package let high: UInt64
    /// The last eight bytes.
    package let low: UInt64

    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// The least UUID and the largest one with the same first eight bytes.
    package var session: ClosedRange<ChangeCause> {
        ChangeCause(high: high, low: 0)...ChangeCause(high: high, low: .max)
    }
}

/// In the order of the bytes.
extension ChangeCause: Comparable {
    package static func < (left: Self, right: Self) -> Bool {
        left.high == right.high ? left.low < right.low : left.high < right.high
    }
}
