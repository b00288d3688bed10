// SPDX-License-Identifier: Apache-2.0

/// A label of a metric: an enum of few values, with the raw values 0, 1, 2 and so on.
///
/// Each value has a place in an array of numbers, which is its raw value. So counting needs no look-up. Users must never choose values:
/// each would be a separate series, for ever.
package protocol MetricLabel: RawRepresentable<Int>, CaseIterable, Sendable {
    /// The name of the label: lower case with underscores.
    static var label: String { get }
    /// The value, as operators see it. By default the name of the case with underscores.
    var text: String { get }
}

extension MetricLabel {
    /// NB: made each time, from Swift's data of the type. Keep ``texts`` if it is asked for often.
    package var text: String {
        "\(self)".reduce(into: "") { text, character in
            if character.isUppercase { text += "_" }
            text += character.lowercased()
        }
    }

    /// The texts of all values, in the order of their places.
    package static var texts: [String] {
        let all = Array(allCases)
        precondition(all.map(\.rawValue) == Array(all.indices), "the raw values of a label are its places")
        return all.map(\.text)
    }
}

/// The label of a metric that has none.
package enum NoLabel: Int, MetricLabel {
    case none

    package static let label = ""
}

extension MetricLabel {
    /// The labels of the series, in the order of the places.
    static var series: [[(name: String, value: String)]] {
        Self.self == NoLabel.self ? [[]] : texts.map { [(label, $0)] }
    }
}
