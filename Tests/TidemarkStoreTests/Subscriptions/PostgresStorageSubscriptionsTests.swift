// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkService

@testable import TidemarkStore

@Suite struct PostgresStorageSubscriptionsTests {
    private func subscription(_ id: String, in database: DatabaseID) -> Subscription {
        Subscription(
            id: id, scope: .private, kind: .query, recordType: "Note", notificationInfo: [],
            query: SubscriptionQuery(
                database: database, predicate: .always(true), options: .changes, predicateBytes: []))
    }

    @Test func `R-847: pages go on behind rows that a later version of the server has written`() async throws {
        try await SharingFixture.run { (fixture: SharingFixture) async throws in
            let database = fixture.alice.privateDatabase
            let saves = (0..<9).map { subscription("s\($0)", in: database) }
            #expect(
                try await fixture.storage.saveSubscriptions(saves, of: fixture.alice.user, atMost: 10)
                    == [FailureReason?](repeating: nil, count: 9))
            // A kind and a form of a query that nobody here knows.
            try fixture.execute(
                "UPDATE subscription SET kind = 99 WHERE id IN ('s1', 's3', 's4', 's5')",
                "UPDATE subscription SET query = '\\xff' WHERE id = 's8'")
            var (seen, after, pageCount) = ([String](), SubscriberKey?.none, 0)
            repeat {
                let pages = try await fixture.storage.querySubscriptions(
                    watching: [database], after: after, atMost: 2)
                let page = try #require(pages[database])
                seen += page.subscriptions.map(\.subscription.id)
                (after, pageCount) = (page.next, pageCount + 1)
            } while after != nil && pageCount < 10
            #expect(seen == ["s0", "s2", "s6", "s7"] && pageCount == 5)
        }
    }
}
