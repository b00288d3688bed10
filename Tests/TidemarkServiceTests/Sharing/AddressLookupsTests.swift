// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkFairness

@testable import TidemarkService

/// How many addresses accounts look up.
@Suite struct AddressLookupsTests {
    @Test func `R-775: what an account has looked up counts until the minute ends`() {
        var lookups = AddressLookups()
        func take(_ count: Int, _ account: Int64, at seconds: Int) -> Duration? {
            lookups.take(count, for: .account(account), atMost: 60, now: .seconds(seconds))
        }
        let begun = [take(60, 1, at: 100), take(30, 2, at: 130)]
        #expect(begun == [nil, nil])
        let refused = [take(1, 1, at: 130), take(31, 2, at: 159)]
        #expect(refused == [.seconds(30), .seconds(1)])
        let after = [take(60, 1, at: 160), take(60, 2, at: 160)]
        #expect(after == [nil, nil])
    }

    @Test func `I-7, R-775: the accounts that are counted are bounded, and each that is counted goes on`() {
        var lookups = AddressLookups()
        func take(_ account: Int64, at seconds: Int) -> Duration? {
            lookups.take(1, for: .account(account), atMost: 60, now: .seconds(seconds))
        }
        var refusedCount = 0
        for account in 0..<Int64(100_001) where take(account, at: 10) != nil { refusedCount += 1 }
        #expect(refusedCount == 1)
        let known = take(0, at: 20)
        #expect(known == nil)
        let new = [take(100_001, at: 20), take(100_001, at: 70)]
        #expect(new == [.seconds(50), nil])
    }
}
