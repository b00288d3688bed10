// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing
import TidemarkDomain
import TidemarkFields
import TidemarkScheduling
import TidemarkService
import TidemarkTestKit
import TidemarkTestSupport

/// A database whose query subscriptions have no room in a server's memory.
@Suite struct QueryEvaluationLargeTests {
    private struct World {
        let fixture: ServiceFixture
        let fired = FiredQueries()
        let script = FaultScript()
        let writer: CloudService
        let other: CloudService

        /// The writing server has room for no more than one subscription.
        init() throws {
            fixture = try ServiceFixture()
            var settings = WriteSettings()
            settings.queryIndexBytesMax = 2_000
            var limits = Limits()
            limits.subscriptionsMax = 5_000
            writer = fixture.server(faults: script.plan, settings: settings, limits: limits, firesQueries: true) {
                [fired] moved in fired.take(moved)
            }
            other = fixture.server(limits: limits, firesQueries: true)
        }

        var database: DatabaseID { fixture.identity.privateDatabase }

        /// At the writing server.
        ///
        /// - Returns: how many calls of its store that takes.
        func write(_ name: String, _ counter: UInt64, type: String) async throws -> Int {
            let start = script.count(.callSent)
            let request = RecordsRequest(
                id: RequestID(DeviceID(high: 0, low: 1), counter), key: fixture.key(),
                saves: [
                    RecordSave(
                        name: name, type: type, tag: nil, fields: try FieldMap([Field("text", .string(name))]),
                        parent: .unchanged)
                ], deletes: [], policy: .allKeys, isAtomic: false, user: fixture.identity.user,
                access: .owner(fixture.identity.user))
            _ = try await writer.modify(request).get()
            try await rest()
            return script.count(.callSent) - start
        }

        func rest() async throws { try await fixture.scheduler.sleep(for: .seconds(1)) }

        func subscription(_ id: String, type: String) -> Subscription {
            let query = SubscriptionQuery(
                database: database, predicate: .always(true), options: .changes, predicateBytes: [])
            return Subscription(
                id: id, scope: .private, kind: .query, recordType: type, notificationInfo: [], query: query)
        }

        /// At the other server.
        func save(_ subscriptions: [Subscription]) async throws {
            for start in stride(from: 0, to: subscriptions.count, by: 250) {
                let some = Array(subscriptions[start..<min(start + 250, subscriptions.count)])
                let saved = try await other.modifySubscriptions(
                    saves: some, deletes: [], scope: .private, of: fixture.identity.user
                ).get()
                #expect(saved.saves == some.map { .success($0) })
            }
        }

        func delete(_ ids: [String]) async throws {
            _ = try await other.modifySubscriptions(
                saves: [], deletes: ids, scope: .private, of: fixture.identity.user
            ).get()
        }

        func hear() async throws {
            writer.forgetQueries(of: database)
            try await rest()
        }
    }

    @Test func `R-280, R-281: a change reads the subscriptions of its own type alone, whoever saves and deletes some`()
        throws
    {
        let world = try World()
        try world.fixture.scheduler.simulate {
            // More than one page of each type.
            let (notes, items) = ((0..<1_200).map { "n\($0)" }, (0..<1_100).map { "i\($0)" })
            try await world.save(
                notes.map { world.subscription($0, type: "Note") } + items.map { world.subscription($0, type: "Item") })
            _ = try await world.write("first", 1, type: "Note")
            #expect(Set(world.fired.sorted()) == Set(notes.map { "\($0) first created" }))
            // The schema learns the type.
            _ = try await world.write("learned", 2, type: "Other")
            let other = try await world.write("other", 3, type: "Other")
            #expect(world.fired.sorted().isEmpty)
            _ = try await world.write("learned too", 4, type: "Item")
            #expect(world.fired.sorted().count == items.count)
            // Two pages.
            #expect(try await world.write("item", 5, type: "Item") == other + 2)
            #expect(Set(world.fired.sorted()) == Set(items.map { "\($0) item created" }))
            // Somebody looks at the other type now, and the server has not heard of it.
            try await world.save([world.subscription("new", type: "Other")])
            #expect(try await world.write("missed", 6, type: "Other") == other)
            #expect(world.fired.sorted().isEmpty)
            try await world.hear()
            #expect(world.fired.sorted() == ["new ? ?"])
            #expect(try await world.write("seen", 7, type: "Other") == other + 1)
            #expect(world.fired.sorted() == ["new seen created"])
            // Of a known type a new one is found without a notice.
            try await world.save([world.subscription("newer", type: "Other")])
            _ = try await world.write("both", 8, type: "Other")
            #expect(world.fired.sorted() == ["new both created", "newer both created"])
            try await world.delete(["new", "newer"])
            try await world.hear()
            _ = try await world.write("again", 9, type: "Other")
            #expect(try await world.write("none", 10, type: "Other") == other)
            #expect(world.fired.sorted().isEmpty)
        }
    }
}
