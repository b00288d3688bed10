// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Logging

/// Writes `2026-01-01T00:00:00.000Z info listening address=127.0.0.1:8443` to standard error.
struct StandardErrorLogHandler: LogHandler {
    var logLevel: Logger.Level
    var metadata = Logger.Metadata()

    init(logLevel: Logger.Level) {
        self.logLevel = logLevel
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        let all = metadata.merging(event.metadata ?? [:]) { $1 }
        let pairs = all.sorted { $0.key < $1.key }.map { ($0.key, "\($0.value)") }
        let line = LogLine.format(
            seconds: Int64(time.tv_sec), milliseconds: Int(time.tv_nsec / 1_000_000), level: event.level.rawValue,
            text: event.message.description, pairs: pairs)
        // One call, so that lines of several threads and processes do not mix. If nobody reads them, they are lost.
        _ = Array(line.utf8).withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }
}

/// The format of a line in the log.
enum LogLine {
    /// Seconds since 1970. Special characters in a value are quoted and escaped, so that a line stays a line, and a
    /// value cannot look like another pair.
    static func format(
        seconds: Int64, milliseconds: Int, level: String, text: String, pairs: [(key: String, value: String)]
    ) -> String {
        var line = "\(timestamp(seconds: seconds, milliseconds: milliseconds)) \(level) \(text)"
        for (key, value) in pairs { line += " \(key)=\(quotedIfNeeded(value))" }
        return line + "\n"
    }

    private static func timestamp(seconds: Int64, milliseconds: Int) -> String {
        var time = time_t(seconds)
        var parts = tm()
        gmtime_r(&time, &parts)
        let date = "\(parts.tm_year + 1_900)-\(digits(Int(parts.tm_mon) + 1, 2))-\(digits(Int(parts.tm_mday), 2))"
        let clock = [parts.tm_hour, parts.tm_min, parts.tm_sec].map { digits(Int($0), 2) }.joined(separator: ":")
        return "\(date)T\(clock).\(digits(milliseconds, 3))Z"
    }

    private static func digits(_ number: Int, _ width: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, width - text.utf8.count)) + text
    }

    private static func quotedIfNeeded(_ value: String) -> String {
        let isPlain = value.unicodeScalars.allSatisfy {
            $0.value > 0x20 && $0 != "\"" && $0 != "\\" && $0 != "=" && !isControl($0)
        }
        guard !isPlain || value.isEmpty else { return value }
        var quoted = "\""
        for scalar in value.unicodeScalars {
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case "\n": quoted += "\\n"
            default:
                if isControl(scalar) {
                    quoted += "\\u{\(String(scalar.value, radix: 16))}"
                } else {
                    quoted.unicodeScalars.append(scalar)
                }
            }
        }
        return quoted + "\""
    }

    /// Control characters, and those that end a line or turn the direction of writing.
    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }
}
