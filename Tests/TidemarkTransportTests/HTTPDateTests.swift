// SPDX-License-Identifier: Apache-2.0

internal import Testing

@testable import TidemarkTransport

@Suite struct HTTPDateTests {
    @Test(arguments: [
        (0, "Thu, 01 Jan 1970 00:00:00 GMT"), (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"),
        (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"), (1_709_251_199, "Thu, 29 Feb 2024 23:59:59 GMT"),
        (4_107_542_400, "Mon, 01 Mar 2100 00:00:00 GMT"), (253_402_300_799, "Fri, 31 Dec 9999 23:59:59 GMT"),
    ] as [(Int64, String)])
    func `a time is told as HTTP does, in leap years too`(seconds: Int64, text: String) {
        #expect(HTTPDate.text(seconds * 1_000) == text)
        #expect(HTTPDate.text(seconds * 1_000 + 999) == text)
    }

    @Test func `a clock from before 1970 does no harm`() {
        #expect(HTTPDate.text(.min) == HTTPDate.text(0))
    }
}
