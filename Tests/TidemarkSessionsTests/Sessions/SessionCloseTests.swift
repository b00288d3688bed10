// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkSessions

/// What a client is told when its session ends.
@Suite struct SessionCloseTests {
    private let all: [SessionClose] = [
        .goingAway, .restarting, .containerClosed, .notAnEnvelope, .misuse, .notAuthenticated, .tooSlow, .idle,
        .tooMany, .noPlace,
        .tryAgainLater,
    ]

    @Test func `each reason has a code that a server may send, and fits into a close frame`() {
        for close in all {
            // RFC 6455 §7.4: assigned codes, and the range for applications.
            #expect([1001, 1007, 1012, 1013].contains(close.code) || (4400...4499).contains(close.code), "\(close)")
            #expect(!close.reason.isEmpty && close.reason.utf8.count <= 123, "\(close)")
        }
        #expect(Set(all.map(\.reason)).count == all.count)
    }

    @Test func `who may come back later gets another code than who must change something`() {
        let later: [SessionClose] = [.goingAway, .restarting, .containerClosed, .noPlace, .tryAgainLater]
        let never: [SessionClose] = [.misuse, .notAuthenticated, .notAnEnvelope]
        #expect(Set(later.map(\.code)).isDisjoint(with: never.map(\.code)))
    }
}
