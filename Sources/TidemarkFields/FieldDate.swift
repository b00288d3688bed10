// SPDX-License-Identifier: Apache-2.0

/// A moment as a `Date` keeps it: a double, the seconds since 2001-01-01T00:00:00Z.
///
/// It has one of two forms. If a reader computes the same double from a whole number of milliseconds since 1970, bit for bit,
/// it is that number. Otherwise it is the double itself. Most dates that a program computes have the first form. Most dates
/// from a clock have the second.
package struct FieldDate: Sendable, Hashable {
    enum Form: Sendable, Hashable {
        /// Since 1970-01-01T00:00:00Z.
        case milliseconds(Int64)
        /// Since 2001-01-01T00:00:00Z. Finite, and not a date in milliseconds.
        case seconds(Double)
    }

    let form: Form

    /// From 1970 to 2001.
    private static let secondsTo2001: Double = 978_307_200

    /// - Parameter milliseconds: since 1970-01-01T00:00:00Z.
    package init(milliseconds: Int64) {
        form = .milliseconds(milliseconds)
    }

    /// Nil for not-a-number and infinity, which are not moments. Minus zero becomes zero.
    ///
    /// - Parameter seconds: since 2001-01-01T00:00:00Z.
    package init?(secondsSince2001 seconds: Double) {
        guard seconds.isFinite else { return nil }
        let rounded = Int64(exactly: Self.milliseconds(seconds)).map(FieldDate.init(milliseconds:))
        if let rounded, rounded.secondsSince2001 == seconds {
            self = rounded
        } else {
            form = .seconds(seconds)
        }
    }

    /// Since 2001-01-01T00:00:00Z; finite.
    package var secondsSince2001: Double {
        switch form {
        case .milliseconds(let milliseconds): Double(milliseconds) / 1_000 - Self.secondsTo2001
        case .seconds(let seconds): seconds
        }
    }

    /// The nearest millisecond since 1970-01-01T00:00:00Z. Queries compare with this value. A moment that is too far away becomes the last
    /// possible one.
    package var milliseconds: Int64 {
        switch form {
        case .milliseconds(let milliseconds): return milliseconds
        case .seconds(let seconds):
            let milliseconds = Self.milliseconds(seconds)
            return Int64(exactly: milliseconds) ?? (milliseconds < 0 ? .min : .max)
        }
    }

    private static func milliseconds(_ seconds: Double) -> Double { ((seconds + secondsTo2001) * 1_000).rounded() }
}
