// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain

@Suite struct FailureReasonTests {
    @Test func `Every reason has a text of its own that says what to do`() {
        let texts = FailureReason.allCases.map(\.text)
        #expect(Set(texts).count == texts.count)
        for text in texts { #expect(text.hasSuffix(".") && text.count > 40, "\(text)") }
    }

    @Test func `R-092, R-094, R-095, R-151, R-220: texts that people search for`() {
        let rows: [(FailureReason, String)] = [
            (.recordExists, "record to insert already exists"),
            (.recordChanged, "client oplock error updating record"),
            (.recordMissing, "recordChangeTag specified, but record not found"),
            (.batchFailed, "Atomic failure"),
            (.tokenExpired, "client knowledge differs from server knowledge"),
        ]
        for (reason, words) in rows { #expect(reason.text.hasPrefix(words)) }
    }
}
