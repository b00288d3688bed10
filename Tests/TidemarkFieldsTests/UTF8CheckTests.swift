// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkTestSupport

@testable import TidemarkFields

/// Compared with what Swift's own strings take for UTF-8.
@Suite struct UTF8CheckTests {
    private func isValid(_ bytes: [UInt8]) -> Bool { UTF8Check.isValid(bytes.span, 0, bytes.count) }

    private func check(_ bytes: [UInt8]) {
        let expected = String(validating: bytes, as: UTF8.self) != nil
        if isValid(bytes) != expected { Issue.record("\(bytes): \(!expected)") }
    }

    @Test func `one and two bytes, and all that may follow the critical ones, are judged as Swift does`() {
        check([])
        for first in 0...UInt8.max {
            check([first])
            for second in 0...UInt8.max { check([first, second]) }
        }
        // The leads behind which not every continuation may follow, and their neighbours.
        for lead: UInt8 in [0xC1, 0xC2, 0xDF, 0xE0, 0xE1, 0xEC, 0xED, 0xEE, 0xEF, 0xF0, 0xF1, 0xF3, 0xF4, 0xF5] {
            for second: UInt8 in [0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0] {
                for third: UInt8 in [0x7F, 0x80, 0xBF, 0xC0] {
                    check([lead, second, third])
                    for fourth: UInt8 in [0x7F, 0x80, 0xBF, 0xC0] { check([lead, second, third, fourth]) }
                }
            }
        }
    }

    @Test func `a mistake is found at any place among letters, and only within the range`() {
        for length in 0...20 {
            for place in 0..<length {
                var bytes = [UInt8](repeating: 0x61, count: length)
                bytes[place] = 0xFF
                #expect(!isValid(bytes))
                #expect(UTF8Check.isValid(bytes.span, 0, place))
                #expect(UTF8Check.isValid(bytes.span, place + 1, length))
            }
        }
        let cut = Array("é".utf8)
        #expect(isValid(cut) && !UTF8Check.isValid(cut.span, 0, 1) && !UTF8Check.isValid(cut.span, 1, 2))
    }

    @Test func `random mixtures are judged as Swift does`() {
        var random = SeededRandom()
        let parts = ["a", "é", "€", "😀", "plain text"].map { Array($0.utf8) } + [[0x80], [0xED, 0xA0, 0x80], [0xF4, 0x90]]
        for _ in 0..<5_000 {
            check((0..<Int.random(in: 0...8, using: &random)).flatMap { _ in random.pick(parts) })
        }
    }
}
