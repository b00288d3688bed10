// SPDX-License-Identifier: Apache-2.0

/// A number as queries compare and index it: integers and doubles in one exact order.
///
/// The order is by `rounded`, then by `remainder`: two plain columns, or one key. Not-a-number equals itself and comes
/// after everything else, even infinity, as in PostgreSQL. Minus zero equals zero.
package struct IndexNumber: Sendable, Hashable, Comparable {
    /// The nearest double that is not above the number.
    package let rounded: Double
    /// The rest of the number, 0…1023. It is not 0 only for integers beyond ±2^53.
    package let remainder: Int16

    package init(_ value: Double) {
        rounded = value.isNaN ? .nan : value == 0 ? 0 : value
        remainder = 0
    }

    package init(_ value: Int64) {
        var double = Double(value)
        // Rounding up may reach 2^63, which does not fit an Int64. The double below it always fits.
        if Int64(exactly: double).map({ $0 > value }) ?? true { double = double.nextDown }
        rounded = double
        remainder = Int16(truncatingIfNeeded: value &- Int64(double))
    }

    /// From stored parts; nil if no number has these parts.
    package init?(rounded: Double, remainder: Int16) {
        guard remainder >= 0, remainder < 1_024 else { return nil }
        guard remainder > 0 else {
            self.init(rounded)
            return
        }
        guard let whole = Int64(exactly: rounded) else { return nil }
        let (sum, overflow) = whole.addingReportingOverflow(Int64(remainder))
        let number = IndexNumber(sum)
        guard !overflow, number.rounded == rounded else { return nil }
        self = number
    }

    package static func == (left: Self, right: Self) -> Bool { !(left < right) && !(right < left) }

    package static func < (left: Self, right: Self) -> Bool {
        if left.rounded.isNaN { return false }
        if right.rounded.isNaN { return true }
        return left.rounded == right.rounded ? left.remainder < right.remainder : left.rounded < right.rounded
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(rounded.isNaN ? Double.nan.bitPattern : rounded.bitPattern)
        hasher.combine(remainder)
    }
}
