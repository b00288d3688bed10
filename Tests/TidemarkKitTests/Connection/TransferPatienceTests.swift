// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import TidemarkKit

@Suite struct TransferPatienceTests {
    private static let throttled = TransferFailure(error: CKError(.requestRateLimited, message: "", retryAfter: 30))

    @Test func `R-070: what gets on is never given up, what does not is`() {
        var patience = TransferPatience()
        let unavailable = TransferFailure(error: CKError(.networkUnavailable))
        #expect(patience.pause(after: unavailable) == nil)
        patience = TransferPatience()
        for byteCount in 0..<100 as Range<Int64> {
            patience.reached(byteCount)
            #expect(patience.pause(after: unavailable) == .seconds(1))
        }
        let pauses = (0..<4).map { _ in
            patience.reached(50)
            return patience.pause(after: unavailable)
        }
        #expect(pauses == [.seconds(2), .seconds(4), .seconds(8), nil])
    }

    @Test func `R-374: who is throttled before anything is over hears so at once`() {
        var patience = TransferPatience()
        #expect(patience.pause(after: Self.throttled) == nil)
        patience.reachedServer()
        #expect(patience.pause(after: Self.throttled) == .seconds(30))
        // An upload that another server has open is no throttling.
        patience = TransferPatience()
        let busy = TransferFailure(error: CKError(.zoneBusy, message: "", retryAfter: 3))
        #expect(patience.pause(after: busy) == .seconds(3))
    }

    @Test func `I-6: a server may name any time, and a transfer waits a minute for it`() {
        for seconds in [61, 1e300, Double.infinity] {
            var patience = TransferPatience()
            let busy = TransferFailure(error: CKError(.zoneBusy, message: "", retryAfter: seconds))
            #expect(patience.pause(after: busy) == .seconds(60))
        }
    }

    @Test func `only what passes by is waited for`() {
        var patience = TransferPatience()
        patience.reached(1)
        let mayTryAgain = patience.mayTryAgain()
        #expect(mayTryAgain)
        #expect(patience.pause(after: Self.throttled) == .seconds(30))
        #expect(patience.pause(after: TransferFailure(error: CKError(.assetNotAvailable))) == nil)
    }
}
