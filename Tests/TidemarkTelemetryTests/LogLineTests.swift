// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import TidemarkTelemetry

@Suite struct LogLineTests {
    private static let time = "1970-01-01T00:00:00.007Z"

    @Test(arguments: [
        ("plain", "plain"), ("127.0.0.1:8443", "127.0.0.1:8443"), ("", "\"\""), ("two words", "\"two words\""),
        ("a=b", "\"a=b\""), ("say \"x\"", "\"say \\\"x\\\"\""), ("back\\slash", "\"back\\\\slash\""),
        ("line\nforged level=error", "\"line\\nforged level=error\""), ("\u{1B}[31m", "\"\\u{1b}[31m\""),
        ("\u{202E}x", "\"\\u{202e}x\""), ("größe", "größe"), ("\u{2028}", "\"\\u{2028}\""),
    ])
    func `R-821: a value stays one value of one line`(value: String, written: String) {
        let line = LogLine.format(time: Self.time, level: "info", text: "listening", pairs: [("key", value)])
        #expect(line == "\(Self.time) info listening key=\(written)\n")
    }

    @Test(arguments: [
        ("plain", "plain"), ("", ""), ("two words", "two words"), ("say \"x\"", "say \\\"x\\\""),
        ("back\\slash", "back\\\\slash"), ("line\nforged", "line\\nforged"), ("\u{1B}[31m", "\\u001b[31m"),
        ("\u{0}\u{7F}\t\r", "\\u0000\\u007f\\u0009\\u000d"), ("größe 👋", "größe 👋"), ("\u{202E}", "\\u202e"),
        ("\u{2028}\u{2029}", "\\u2028\\u2029"),
        // A character beyond 16 bits that is not shown: two units of UTF-16.
        ("\u{E0001}", "\\udb40\\udc01"),
    ])
    func `R-821: a line of JSON has the value as it is`(value: String, written: String) throws {
        let line = JSONLogLine.format(
            time: Self.time, level: "info", label: "tidemark.server", text: "serving", pairs: [("key", value)])
        #expect(
            line
                == "{\"time\":\"\(Self.time)\",\"level\":\"info\",\"label\":\"tidemark.server\",\"message\":\"serving\","
                + "\"key\":\"\(written)\"}\n")
        let object = try JSONDecoder().decode([String: String].self, from: Data(line.utf8))
        #expect(object["key"] == value && object.count == 5)
    }

    @Test func `R-821: each character there is gives one line, which a program reads back`() throws {
        // All of the first plane, and some of each other one.
        let scalars = (0...0x10FFFF).filter { $0 < 0x10000 || $0 % 251 == 0 }.compactMap { Unicode.Scalar($0 as Int) }
        for start in stride(from: 0, to: scalars.count, by: 512) {
            var value = ""
            value.unicodeScalars.append(contentsOf: scalars[start..<min(start + 512, scalars.count)])
            let line = JSONLogLine.format(
                time: Self.time, level: "info", label: "l", text: "t", pairs: [("key", value), (value, "value")])
            #expect(line.utf8.count { $0 < 0x20 } == 1 && line.hasSuffix("}\n"))
            let object = try JSONDecoder().decode([String: String].self, from: Data(line.utf8))
            #expect(object["key"].map { Array($0.unicodeScalars) } == Array(value.unicodeScalars))
            #expect(object.values.contains("value"))
            let text = LogLine.format(time: Self.time, level: "info", text: "t", pairs: [("key", value)])
            #expect(text.utf8.count { $0 < 0x20 } == 1 && text.hasSuffix("\n"))
        }
    }

    @Test func `R-821: a pair does not hide what each line has`() throws {
        let pairs = ["time", "level", "label", "message"].map { (key: $0, value: "forged") }
        let line = JSONLogLine.format(time: Self.time, level: "info", label: "l", text: "t", pairs: pairs)
        let object = try JSONDecoder().decode([String: String].self, from: Data(line.utf8))
        #expect(object["time"] == Self.time && object["level"] == "info" && object["label"] == "l")
        #expect(object["message"] == "t" && object["message_"] == "forged" && object.count == 8)
    }

    @Test(arguments: [
        (Int64(1_767_225_600), 0, "2026-01-01T00:00:00.000Z"), (1_709_210_096, 89, "2024-02-29T12:34:56.089Z"),
        (4_102_444_799, 999, "2099-12-31T23:59:59.999Z"),
    ])
    func `a line has the time in UTC`(seconds: Int64, milliseconds: Int, time: String) {
        #expect(LogTime.text(seconds: seconds, milliseconds: milliseconds) == time)
    }
}
