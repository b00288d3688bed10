// SPDX-License-Identifier: Apache-2.0

/// The text format of Prometheus, version 0.0.4.
enum Exposition {
    /// The unit of a number of ours, and how it is written. Prometheus wants base units.
    enum Unit: Sendable {
        case one
        /// Written as seconds.
        case nanoseconds
    }

    /// Stops the program if one of our own names breaks Prometheus' conventions.
    static func check(_ name: String, isCounter: Bool = false) {
        precondition(isMetricName(name), "the name of a metric has letters, digits and underscores")
        precondition(name.hasSuffix("_total") == isCounter, "a counter's name ends with _total, and no other does")
    }

    static func isMetricName(_ name: String) -> Bool { isName(name, besides: ":") }

    static func isLabelName(_ name: String) -> Bool { isName(name, besides: "") && !name.hasPrefix("__") }

    private static func isName(_ name: String, besides more: String) -> Bool {
        guard let first = name.utf8.first, !(UInt8(ascii: "0")...UInt8(ascii: "9") ~= first) else { return false }
        return name.unicodeScalars.allSatisfy { scalar in
            switch scalar {
            case "a"..."z", "A"..."Z", "0"..."9", "_": true
            default: more.unicodeScalars.contains(scalar)
            }
        }
    }

    /// The two lines before the series of a metric.
    static func head(_ name: String, _ help: String, type: String) -> String {
        "# HELP \(name) \(escaped(help, quotes: false))\n# TYPE \(name) \(type)\n"
    }

    /// The line of a series up to its value.
    static func series(_ name: String, _ labels: [(name: String, value: String)]) -> String {
        guard !labels.isEmpty else { return name + " " }
        let pairs = labels.map { "\($0.name)=\"\(escaped($0.value, quotes: true))\"" }
        return "\(name){\(pairs.joined(separator: ","))} "
    }

    static func line(_ series: String, _ value: Int, _ unit: Unit, to text: inout String) {
        text += series
        text += number(value, unit)
        text += "\n"
    }

    static func number(_ value: Int, _ unit: Unit) -> String {
        switch unit {
        case .one: String(value)
        case .nanoseconds: seconds(value)
        }
    }

    /// Exactly, because a sum of very many short times is a large number with a small end.
    private static func seconds(_ nanoseconds: Int) -> String {
        let (whole, rest) = nanoseconds.magnitude.quotientAndRemainder(dividingBy: 1_000_000_000)
        let sign = nanoseconds < 0 ? "-" : ""
        guard rest > 0 else { return sign + String(whole) }
        var digits = Array(String(rest + 1_000_000_000).utf8.dropFirst())
        while digits.last == UInt8(ascii: "0") { digits.removeLast() }
        return "\(sign)\(whole).\(String(decoding: digits, as: UTF8.self))"
    }

    /// A number of a library, which may be anything.
    static func number(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
        return value == value.rounded() && value.magnitude < 1e15 ? String(Int(value)) : String(value)
    }

    private static func escaped(_ text: String, quotes: Bool) -> String {
        guard text.utf8.contains(where: { $0 == UInt8(ascii: "\\") || $0 == UInt8(ascii: "\n") || $0 == 34 }) else {
            return text
        }
        return text.unicodeScalars.reduce(into: "") { escaped, scalar in
            switch scalar {
            case "\\": escaped += "\\\\"
            case "\n": escaped += "\\n"
            case "\"" where quotes: escaped += "\\\""
            default: escaped.unicodeScalars.append(scalar)
            }
        }
    }
}

extension Duration {
    /// Nanoseconds; a longer time gives the largest number.
    var inNanoseconds: Int {
        let (seconds, attoseconds) = components
        let (whole, overflow) = Int(seconds).multipliedReportingOverflow(by: 1_000_000_000)
        return overflow ? (seconds < 0 ? .min : .max) : whole + Int(attoseconds / 1_000_000_000)
    }
}
