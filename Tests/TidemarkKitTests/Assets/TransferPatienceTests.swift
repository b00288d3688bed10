// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import TidemarkKit

@Suite struct TransferPatienceTests {
    @Test func `R-070: what gets on is never given up, what does not is`() {
        var patience = TransferPatience()
        let cut = CKError(.networkUnavailable)
        #expect(patience.wait(after: cut) == nil)
        patience = TransferPatience()
        for byteCount in 0..<100 as Range<Int64> {
            patience.reached(byteCount)
            #expect(patience.wait(after: cut) == 1)
        }
        let waits = (0..<4).map { _ in
            patience.reached(50)
            return patience.wait(after: cut)
        }
        #expect(waits == [2, 4, 8, nil])
    }

    @Test func `R-374: who is throttled before anything is over hears so at once`() {
        let throttled = CKError(.requestRateLimited, message: "", retryAfter: 30)
        var patience = TransferPatience()
        #expect(patience.wait(after: throttled) == nil)
        patience.reached(0)
        #expect(patience.wait(after: throttled) == 30)
        // An upload that another server has open is no throttling.
        patience = TransferPatience()
        #expect(patience.wait(after: CKError(.zoneBusy, message: "", retryAfter: 3)) == 3)
    }

    @Test func `only what passes by is waited for`() {
        var patience = TransferPatience()
        patience.reached(1)
        #expect(patience.wait(after: nil) == 0)
        #expect(patience.wait(after: CKError(.requestRateLimited, message: "", retryAfter: 30)) == 30)
        #expect(patience.wait(after: CKError(.assetNotAvailable)) == nil)
    }
}
