// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkService
import TidemarkStore

@testable import TidemarkAdmin

@Suite struct AdminSubscriptionsTests {
    @Test func `an operator lists and deletes subscriptions`() async throws {
        try await AdminPlace.run { place in
            let alice = try await place.user("alice")
            let refusals = try await place.storage.saveSubscriptions(
                [
                    Subscription(
                        id: "all", scope: .private, kind: .database, recordType: "Note", notificationInfo: [1]),
                    Subscription(id: "all", scope: .shared, kind: .database, recordType: nil, notificationInfo: []),
                ], of: alice.id, atMost: 9)
            #expect(refusals == [nil, nil])
            let list = try await place.perform("subscriptions", "list", "alice", "-o", "json")
            #expect(
                list.terminal.output == """
                    {"subscription":"all","database":"private","kind":"database","zone":null,"recordType":"Note","notificationInfoBytes":1}
                    {"subscription":"all","database":"shared","kind":"database","zone":null,"recordType":null,"notificationInfoBytes":0}

                    """)
            #expect(try await place.perform("subscriptions", "delete", "alice", "all").status == .ok)
            let names = try await place.perform("subscriptions", "list", "alice")
            #expect(
                names.terminal.output == """
                    SUBSCRIPTION  DATABASE  KIND      ZONE  RECORD TYPE
                    all           shared    database  -     -

                    """)
            #expect(try await place.perform("subscriptions", "delete", "alice", "all").status == .refused)
            #expect(
                try await place.perform("subscriptions", "delete", "alice", "all", "--database", "shared").status == .ok
            )
        }
    }
}
