// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A line of the log as text: `2026-01-01T00:00:00.000Z info listening address=127.0.0.1:8443`.
///
/// A program can take it apart. Time, level and the words of the message come first. Then come pairs `key=value`. A
/// value with spaces, quotes, `=` or special characters is in quotes.
enum LogLine {
    static func format(time: String, level: String, text: String, pairs: [(key: String, value: String)]) -> String {
        var line = "\(time) \(level) \(text)"
        for (key, value) in pairs { line += " \(key)=\(quotedIfNeeded(value))" }
        return line + "\n"
    }

    /// Special characters in a value are escaped, so that a line stays a line, and a value cannot look like another pair.
    private static func quotedIfNeeded(_ value: String) -> String {
        let isPlain = value.unicodeScalars.allSatisfy {
            $0.value > 0x20 && $0 != "\"" && $0 != "\\" && $0 != "=" && !$0.isSpecial
        }
        guard !isPlain || value.isEmpty else { return value }
        return value.quoted { "\\u{\(String($0.value, radix: 16))}" }
    }
}

/// A line of the log as a JSON object (RFC 8259) with strings alone, for programs that collect logs.
///
/// `time`, `level`, `label` and `message` come first, then the pairs, sorted. The label is the part of the program that
/// writes.
enum JSONLogLine {
    private static let reserved: Set<String> = ["time", "level", "label", "message"]

    static func format(
        time: String, level: String, label: String, text: String, pairs: [(key: String, value: String)]
    ) -> String {
        // A pair must not hide what each line has.
        let pairs = pairs.map { (reserved.contains($0.key) ? $0.key + "_" : $0.key, $0.value) }
        let members = [("time", time), ("level", level), ("label", label), ("message", text)] + pairs
        return "{" + members.map { "\(quoted($0)):\(quoted($1))" }.joined(separator: ",") + "}\n"
    }

    private static func quoted(_ value: String) -> String {
        value.quoted { String($0).utf16.map(escaped).joined() }
    }

    private static func escaped(_ unit: UInt16) -> String { "\\u" + LogTime.digits(String(unit, radix: 16), 4) }
}

/// Times in the log.
enum LogTime {
    /// In UTC, in the format of RFC 3339.
    ///
    /// - Parameter seconds: since 1970.
    static func text(seconds: Int64, milliseconds: Int) -> String {
        var time = time_t(seconds)
        var parts = tm()
        gmtime_r(&time, &parts)
        let date = "\(parts.tm_year + 1_900)-\(two(parts.tm_mon + 1))-\(two(parts.tm_mday))"
        let clock = [parts.tm_hour, parts.tm_min, parts.tm_sec].map(two).joined(separator: ":")
        return "\(date)T\(clock).\(digits(String(milliseconds), 3))Z"
    }

    private static func two(_ number: Int32) -> String { digits(String(number), 2) }

    /// The digits, with zeros before them.
    static func digits(_ text: String, _ width: Int) -> String {
        String(repeating: "0", count: max(0, width - text.utf8.count)) + text
    }
}

extension String {
    /// In quotes.
    ///
    /// - Parameter escape: how a special character is written.
    fileprivate func quoted(_ escape: (Unicode.Scalar) -> String) -> String {
        var quoted = "\""
        for scalar in unicodeScalars {
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case "\n": quoted += "\\n"
            default: if scalar.isSpecial { quoted += escape(scalar) } else { quoted.unicodeScalars.append(scalar) }
            }
        }
        return quoted + "\""
    }
}

extension Unicode.Scalar {
    /// Control characters, and those that end a line or turn the direction of writing.
    fileprivate var isSpecial: Bool {
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }
}
