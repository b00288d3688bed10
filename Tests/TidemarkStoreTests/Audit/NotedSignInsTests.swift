// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain

@testable import TidemarkStore

/// How many sign-ins of an account are written in an hour.
@Suite struct NotedSignInsTests {
    @Test func `R-860: an account has so many sign-ins in an hour, and others have theirs`() {
        var noted = NotedSignIns()
        let (alice, bob) = (AccountID(1), AccountID(2))
        for _ in 0..<10 {
            #expect(noted.admits(alice, in: 5, atMost: 10))
            noted.noted(alice, in: 5)
        }
        #expect(!noted.admits(alice, in: 5, atMost: 10) && noted.admits(bob, in: 5, atMost: 10))
        #expect(noted.admits(alice, in: 5, atMost: 11), "the limit was raised")
        #expect(noted.admits(alice, in: 6, atMost: 10))
        noted.noted(bob, in: 6)
        #expect(noted.admits(alice, in: 6, atMost: 1) && !noted.admits(bob, in: 6, atMost: 1))
        // A clock that was set back.
        noted.noted(alice, in: 4)
        #expect(!noted.admits(alice, in: 4, atMost: 1) && noted.admits(bob, in: 4, atMost: 1))
    }

    @Test func `I-7, R-860: of very many accounts those with most sign-ins are remembered`() {
        var noted = NotedSignIns()
        let worst = AccountID(0)
        for _ in 0..<10 { noted.noted(worst, in: 1) }
        for number in 1...Int64(2 * NotedSignIns.accountsMax) {
            noted.noted(AccountID(number), in: 1)
            guard number.isMultiple(of: 10_000) else { continue }
            #expect(noted.counts.count <= NotedSignIns.accountsMax)
        }
        #expect(!noted.admits(worst, in: 1, atMost: 10))
    }
}
