// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain

/// A value of a row, which each writer shows in its own form.
package enum OutputValue: Sendable {
    case text(String)
    case number(Int)
    case decimal(Double)
    case flag(Bool)
    case date(Timestamp)
    case list([OutputValue])
    /// Keys in the order in which they are written.
    case object([(String, OutputValue)])
    case none

    package static func optional(_ text: String?) -> OutputValue {
        text.map { OutputValue.text($0) } ?? OutputValue.none
    }

    package static func optional(_ number: Int?) -> OutputValue {
        number.map { OutputValue.number($0) } ?? OutputValue.none
    }

    package static func optional(_ flag: Bool?) -> OutputValue {
        flag.map { OutputValue.flag($0) } ?? OutputValue.none
    }

    package static func optional(_ date: Timestamp?) -> OutputValue {
        date.map { OutputValue.date($0) } ?? OutputValue.none
    }
}
