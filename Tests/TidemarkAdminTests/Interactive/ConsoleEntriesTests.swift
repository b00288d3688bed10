// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import TidemarkAdmin

@Suite struct ConsoleEntriesTests {
    @Test func `R-900: a backslash or an open quotation mark goes on in the next line, and the first line counts`()
        throws
    {
        var entries = ConsoleEntries()
        #expect(try entries.take("accounts list")?.words == ["accounts", "list"])
        #expect(try entries.take("")?.words == [])
        #expect(try entries.take(#"zones \"#) == nil)
        #expect(entries.isOpen && entries.begun == "zones \\\n")
        let joined = try entries.take("list 'a")
        #expect(joined == nil && entries.isOpen)
        let entry = try #require(try entries.take("b'"))
        #expect(entry.words == ["zones", "list", "a\nb"] && entry.line == 3)
        #expect(!entries.isOpen && entries.begun.isEmpty)
        #expect(try entries.take("x")?.line == 6)
        try entries.finish()
    }

    @Test func `R-900: what is abandoned is forgotten`() throws {
        var entries = ConsoleEntries()
        #expect(try entries.take("zones 'a") == nil)
        entries.abandon()
        #expect(!entries.isOpen)
        #expect(try entries.take("exit")?.words == ["exit"])
    }

    @Test func `R-900: a script that ends in the middle of an entry fails, and names its line`() throws {
        var entries = ConsoleEntries()
        _ = try entries.take("exit")
        _ = try entries.take("zones 'a")
        let failure = #expect(throws: AdminFailure.self) { try entries.finish() }
        #expect(failure?.status == .usage && failure?.description.hasPrefix("Line 2: ") == true)
    }

    @Test func `R-900: a file without an end of its quotation is not read without end`() throws {
        var entries = ConsoleEntries()
        _ = try entries.take("'")
        let failure = #expect(throws: AdminFailure.self) {
            for _ in 0..<1_100 { _ = try entries.take(String(repeating: "x", count: 1_000)) }
        }
        #expect(failure?.status == .usage)
        #expect(try entries.take("exit")?.words == ["exit"])
    }
}
