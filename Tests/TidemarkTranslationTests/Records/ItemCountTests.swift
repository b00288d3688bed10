// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain

@testable import TidemarkTranslation

/// How large a request may be.
@Suite struct ItemCountTests {
    private let limits = Limits()

    private func refusal(_ check: () throws(Refusal) -> Void) -> Refusal? {
        do throws(Refusal) {
            try check()
            return nil
        } catch {
            return error
        }
    }

    @Test func `R-155: as many items as are allowed pass, and one more is told with both numbers`() {
        #expect(refusal { () throws(Refusal) in try ItemCount.check(limits.itemsMax, limits) } == nil)
        #expect(refusal { () throws(Refusal) in try ItemCount.check(0, atMost: 0) } == nil)
        let refused = refusal { () throws(Refusal) in try ItemCount.check(limits.itemsMax + 1, limits) }
        #expect(refused?.code == .tooManyItems)
        #expect(refused?.detail?.contains("\(limits.itemsMax + 1) items") == true)
        #expect(refused?.detail?.contains("(\(limits.itemsMax))") == true)
    }

    @Test func `R-155: fields that are too large are told what to do`() {
        #expect(refusal { () throws(Refusal) in try ItemCount.checkBytes(limits.requestBytesMax, limits) } == nil)
        let refused = refusal { () throws(Refusal) in try ItemCount.checkBytes(limits.requestBytesMax + 1, limits) }
        #expect(refused?.code == .requestTooLarge && refused?.detail?.contains("Split it in half") == true)
    }
}
