// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import TidemarkServer

/// When freed memory goes back to the system.
@Suite struct FreedMemoryTests {
    private static let mebibyte = 1_048_576

    @Test func `R-722: memory is returned after much was taken, when idle, and once`() {
        var rule = FreedMemoryRule()
        func look(_ mebibytes: Int, isIdle: Bool = true) -> Bool {
            rule.looked(resident: mebibytes * Self.mebibyte, isIdle: isIdle)
        }
        #expect(!look(50) && !look(50))
        // Little, then much while requests are under way.
        #expect(!look(80))
        #expect(!look(500, isIdle: false) && !look(500, isIdle: false))
        // Idle for a moment only.
        #expect(!look(500) && !look(500, isIdle: false) && !look(500))
        #expect(look(500))
        rule.returned(resident: 60 * Self.mebibyte)
        #expect(!look(60) && !look(91))
        // What is in use stays, and is not looked for again and again.
        #expect(look(92))
        rule.returned(resident: 92 * Self.mebibyte)
        #expect(!look(92) && !look(92) && !look(123) && look(124))
    }
}
