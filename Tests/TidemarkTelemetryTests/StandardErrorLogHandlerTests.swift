// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import TidemarkTelemetry

@Suite struct StandardErrorLogHandlerTests {
    @Test(arguments: [
        ("plain", "plain"), ("127.0.0.1:8443", "127.0.0.1:8443"), ("", "\"\""), ("two words", "\"two words\""),
        ("a=b", "\"a=b\""), ("say \"x\"", "\"say \\\"x\\\"\""), ("back\\slash", "\"back\\\\slash\""),
        ("line\nforged level=error", "\"line\\nforged level=error\""), ("\u{1B}[31m", "\"\\u{1b}[31m\""),
        ("\u{202E}x", "\"\\u{202e}x\""), ("größe", "größe"), ("\u{2028}", "\"\\u{2028}\""),
    ])
    func `a value stays one value of one line`(value: String, written: String) {
        let line = LogLine.format(
            seconds: 0, milliseconds: 7, level: "info", text: "listening", pairs: [("key", value)])
        #expect(line == "1970-01-01T00:00:00.007Z info listening key=\(written)\n")
    }

    @Test(arguments: [
        (Int64(1_767_225_600), 0, "2026-01-01T00:00:00.000Z"), (1_709_210_096, 89, "2024-02-29T12:34:56.089Z"),
        (4_102_444_799, 999, "2099-12-31T23:59:59.999Z"),
    ])
    func `a line begins with the time in UTC`(seconds: Int64, milliseconds: Int, time: String) {
        let line = LogLine.format(
            seconds: seconds, milliseconds: milliseconds, level: "error", text: "text", pairs: [])
        #expect(line == "\(time) error text\n")
    }
}
