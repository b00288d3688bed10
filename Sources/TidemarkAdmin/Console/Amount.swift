// SPDX-License-Identifier: Apache-2.0

internal import TidemarkStore

/// Numbers in sentences.
enum Amount {
    static func zones(_ count: Int) -> String { text(count, "zone") }
    static func records(_ count: Int) -> String { text(count, "record") }
    static func people(_ count: Int) -> String { count == 1 ? "1 person" : "\(count) people" }

    /// - Parameter noun: in the singular; its plural ends with an s.
    static func text(_ count: Int, _ noun: String) -> String { count == 1 ? "1 \(noun)" : "\(count) \(noun)s" }

    /// As ``text(_:_:)``, of a number that may not have been counted to its end.
    static func text(_ number: CountedNumber, _ noun: String) -> String {
        switch number {
        case .exactly(let count): text(count, noun)
        case .atLeast(0): "\(noun)s (not counted: it takes too long)"
        case .atLeast(let count): "at least \(text(count, noun))"
        }
    }

    static func records(_ number: CountedNumber) -> String { text(number, "record") }

    /// In the largest unit that leaves a number of at least 1.
    static func bytes(_ count: Int64) -> String {
        var (rest, unit) = (Double(count), 0)
        let units = ["bytes", "kB", "MB", "GB", "TB"]
        while rest >= 1_000, unit < units.count - 1 {
            rest /= 1_000
            unit += 1
        }
        guard unit > 0 else { return count == 1 ? "1 byte" : "\(count) bytes" }
        return "\((rest * 10).rounded() / 10) \(units[unit])"
    }
}
