// SPDX-License-Identifier: Apache-2.0

internal import Foundation
package import TidemarkDomain

/// Dates in ISO 8601, in UTC.
package enum DateForm {
    /// For tables.
    package static func seconds(_ date: Timestamp) -> String {
        Date(timeIntervalSince1970: (Double(date.milliseconds) / 1_000).rounded(.down)).formatted(.iso8601)
    }

    /// For programs.
    static func milliseconds(_ date: Timestamp) -> String {
        let rest = ((date.milliseconds % 1_000) + 1_000) % 1_000
        let digits = String("00\(rest)".suffix(3))
        return "\(seconds(date).dropLast()).\(digits)Z"
    }
}
