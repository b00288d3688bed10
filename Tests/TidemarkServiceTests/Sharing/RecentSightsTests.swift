// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkFairness

@testable import TidemarkService

/// How long a right that was found is trusted.
@Suite struct RecentSightsTests {
    private func place(_ user: Int64, _ name: String = "notes") -> AccessLooks.Place {
        AccessLooks.Place(user: UserID(user), zone: ZoneKey(database: DatabaseID(1), name: name))
    }

    @Test func `R-323: a right is trusted for its time, for its user in its zone, until a look finds none`() {
        var sights = RecentSights(trust: .seconds(10), countMax: 100)
        #expect(!sights.isTrusted(place(1), now: .zero))
        sights.note(true, at: place(1), of: .account(1), now: .seconds(5))
        #expect(sights.isTrusted(place(1), now: .seconds(14)))
        #expect(!sights.isTrusted(place(2), now: .seconds(5)) && !sights.isTrusted(place(1, "more"), now: .seconds(5)))
        #expect(!sights.isTrusted(place(1), now: .seconds(15)))
        sights.note(true, at: place(1), of: .account(1), now: .seconds(20))
        sights.note(false, at: place(1), of: .account(1), now: .seconds(21))
        #expect(!sights.isTrusted(place(1), now: .seconds(21)))
    }

    @Test func `R-780: an account that is looked at in very many zones is looked at again, and nobody else`() {
        var sights = RecentSights(trust: .seconds(10), countMax: 320)
        for number in 0..<10 { sights.note(true, at: place(2, "z\(number)"), of: .account(2), now: .zero) }
        for number in 0..<1_000 { sights.note(true, at: place(1, "z\(number)"), of: .account(1), now: .zero) }
        #expect((0..<10).allSatisfy { sights.isTrusted(place(2, "z\($0)"), now: .seconds(1)) })
        #expect((0..<1_000).count { sights.isTrusted(place(1, "z\($0)"), now: .seconds(1)) } == 310)
    }
}
