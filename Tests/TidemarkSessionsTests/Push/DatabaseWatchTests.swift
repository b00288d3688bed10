// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain

@testable import TidemarkSessions

/// What is known of one database, alone: no store, no session.
@Suite struct DatabaseWatchTests {
    private static let all = Subscription(
        id: "all", scope: .private, kind: .database, recordType: nil, notificationInfo: [])

    @Test func `R-249, I-4: a read of subscriptions that ends late takes nothing back`() {
        var watch = DatabaseWatch(user: UserID(1), since: .seconds(10))
        // It began for an earlier session, which has left since; what was subscribed meanwhile is not in it.
        watch.knows([], at: .seconds(9))
        #expect(watch.subscriptions == nil && watch.needsSubscriptions(now: .seconds(10), ageMax: nil))
        watch.knows([Self.all], at: .seconds(10))
        #expect(watch.subscriptions == [Self.all] && watch.wantsPushes)
        watch.knows([Self.all], at: .seconds(12))
        watch.knows([], at: .seconds(11))
        #expect(watch.subscriptions == [Self.all])
        #expect(watch.needsSubscriptions(now: .seconds(14), ageMax: .seconds(1)))
        watch.knows([], at: .seconds(14))
        #expect(watch.subscriptions == [] && !watch.wantsPushes)
    }
}
