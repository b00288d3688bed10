// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkService
import TidemarkStore

@testable import TidemarkAdmin

@Suite struct AdminSubscriptionsTests {
    @Test func `R-832: an operator lists and deletes subscriptions`() async throws {
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
                    {"subscription":"all","database":"private","kind":"database","zone":null,"recordType":"Note","notificationInfoBytes":1,"firesOn":null,"predicate":null}
                    {"subscription":"all","database":"shared","kind":"database","zone":null,"recordType":null,"notificationInfoBytes":0,"firesOn":null,"predicate":null}

                    """)
            // Only an app can save it again, so somebody must want it.
            for (words, status) in [([], .usage), (["--dry-run"], .ok)] as [([String], TidemarkAdmin.ExitStatus)] {
                let asked = try await place.perform(["subscriptions", "delete", "alice", "all"] + words)
                #expect(asked.status == status)
                #expect(
                    asked.terminal.messages.contains("alice has 2 subscriptions in the container, and 0 devices that"),
                    "\(asked.terminal.messages)")
            }
            #expect(
                try await place.perform("subscriptions", "list", "alice", "-o", "name").terminal.output == "all\nall\n")
            #expect(try await place.perform("subscriptions", "delete", "alice", "all", "--yes").status == .ok)
            let names = try await place.perform("subscriptions", "list", "alice")
            #expect(
                names.terminal.output == """
                    SUBSCRIPTION  DATABASE  KIND      ZONE  RECORD TYPE
                    all           shared    database  -     -

                    """)
            for words in [["--yes"], ["--dry-run"]] {
                #expect(
                    try await place.perform(["subscriptions", "delete", "alice", "all"] + words).status == .refused)
            }
            let shared = ["subscriptions", "delete", "alice", "all", "--database", "shared", "--yes"]
            #expect(try await place.perform(shared).status == .ok)
        }
    }

    @Test func `R-832: a query subscription shows what fires it, and nothing that it compares with`() async throws {
        try await AdminPlace.run { place in
            let alice = try await place.user("alice")
            let query = SubscriptionQuery(
                database: DatabaseID(1), predicate: .compare(.field("secret"), .equal, .string("hush")),
                options: [.creation, .deletion, .once], predicateBytes: [1, 2])
            let refusals = try await place.storage.saveSubscriptions(
                [
                    Subscription(
                        id: "hits", scope: .public, kind: .query, recordType: "Note", zoneName: "_defaultZone",
                        notificationInfo: [], query: query)
                ], of: alice.id, atMost: 9)
            #expect(refusals == [nil])
            let list = try await place.perform("subscriptions", "list", "alice", "-o", "json")
            #expect(
                list.terminal.output == """
                    {"subscription":"hits","database":"public","kind":"query","zone":"_defaultZone","recordType":"Note",\
                    "notificationInfoBytes":0,"firesOn":"creation,deletion,once","predicate":"comparison"}

                    """)
        }
    }

    @Test func `R-847: servers hear of a query subscription that an operator deletes, as of one that a client deletes`()
        async throws
    {
        try await AdminPlace.run { place in
            let alice = try await place.user("alice")
            let account = try #require(try await place.store.account(named: "alice"))
            let shared = try await place.store.users(of: account).first?.sharedDatabase
            let query = SubscriptionQuery(
                database: DatabaseID(77), predicate: .always(true), options: .changes, predicateBytes: [])
            let saves = [DatabaseScope.private, .public].map {
                Subscription(id: "q", scope: $0, kind: .query, recordType: "Note", notificationInfo: [], query: query)
            }
            #expect(try await place.storage.saveSubscriptions(saves, of: alice.id, atMost: 9) == [nil, nil])
            let (heard, hear) = AsyncStream.makeStream(of: [ServerNotice].self)
            let (listening, listens) = AsyncStream.makeStream(of: Void.self)
            let listener = try NoticeListener(
                url: place.url, loop: place.loop, onNotices: { hear.yield($0) }, onListening: { listens.yield() })
            defer { listener.stop() }
            for await _ in listening { break }
            var ears = heard.makeAsyncIterator()
            for (scope, changed) in [
                ("private", []),
                ("public", shared.map { [.zone(ZoneNotice(database: $0, life: .nobody, zoneName: ""))] } ?? []),
            ] as [(String, [ServerNotice])] {
                let words = ["subscriptions", "delete", "alice", "q", "--database", scope, "--yes"]
                #expect(try await place.perform(words).status == .ok)
                // If it is not told, this comes first.
                try await place.storage.post([.credentialRevoked(CredentialID(7))])
                #expect(await ears.next() == [.queriesChanged(DatabaseID(77))] + changed)
                #expect(await ears.next() == [.credentialRevoked(CredentialID(7))])
            }
        }
    }
}
