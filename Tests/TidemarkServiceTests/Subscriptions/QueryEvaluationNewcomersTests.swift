// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkScheduling
import TidemarkService
import TidemarkTestKit
import TidemarkTestSupport

/// One server writes, and at another one users subscribe, of which the first hears later.
@Suite struct QueryEvaluationNewcomersTests {
    private struct World {
        let fixture: ServiceFixture
        let fired = FiredQueries()
        let writer: CloudService
        let other: CloudService

        init() throws {
            fixture = try ServiceFixture()
            writer = fixture.server(firesQueries: true) { [fired] in fired.take($0) }
            other = fixture.server(firesQueries: true)
        }

        var database: DatabaseID { fixture.identity.privateDatabase }

        /// At the writing server.
        func write(_ name: String, _ counter: UInt64) async throws {
            let id = RequestID(DeviceID(high: 0, low: 1), counter)
            _ = try await writer.modify(try fixture.saving([name], id: id)).get()
            try await rest()
        }

        func rest(_ seconds: Int = 1) async throws { try await fixture.scheduler.sleep(for: .seconds(seconds)) }

        func subscription(
            _ id: String, type: String = "Note", _ options: SubscriptionQuery.Options = .changes
        ) -> Subscription {
            let query = SubscriptionQuery(
                database: database, predicate: .always(true), options: options, predicateBytes: [])
            return Subscription(
                id: id, scope: .private, kind: .query, recordType: type, notificationInfo: [], query: query)
        }

        func save(_ subscriptions: Subscription..., at server: CloudService) async throws {
            let saved = try await server.modifySubscriptions(
                saves: subscriptions, deletes: [], scope: .private, of: fixture.identity.user
            ).get()
            #expect(saved.saves == subscriptions.map { .success($0) })
        }
    }

    @Test func `R-265: a change that came before the news of a subscription is told when that comes, and once`() throws
    {
        for knowsOthers in [false, true] {
            let world = try World()
            try world.fixture.scheduler.simulate {
                if knowsOthers { try await world.save(world.subscription("old"), at: world.writer) }
                try await world.write("a", 1)
                _ = world.fired.sorted()
                try await world.save(
                    world.subscription("new"), world.subscription("else", type: "Else"), at: world.other)
                try await world.write("b", 2)
                #expect(world.fired.sorted() == (knowsOthers ? ["old b created"] : []), "it does not know the new one")
                world.writer.forgetQueries(of: world.database)
                try await world.rest()
                #expect(world.fired.sorted() == ["new ? ?"])
                try await world.write("c", 3)
                #expect(world.fired.sorted() == ["new c created"] + (knowsOthers ? ["old c created"] : []))
                world.writer.forgetQueries(of: world.database)
                try await world.rest(100)
                world.writer.sweepQueries()
                try await world.rest()
                #expect(world.fired.sorted() == [])
            }
        }
    }

    @Test func `R-265, R-246: one that fires once does not end by it, and fires later`() throws {
        let world = try World()
        try world.fixture.scheduler.simulate {
            try await world.write("a", 1)
            let once = world.subscription("once", [.creation, .once])
            try await world.save(once, at: world.other)
            try await world.write("b", 2)
            world.writer.forgetQueries(of: world.database)
            try await world.rest()
            #expect(world.fired.sorted() == ["once ? ?"])
            #expect(await world.other.subscriptions(in: .private, of: world.fixture.identity.user) == .success([once]))
            try await world.write("c", 3)
            #expect(world.fired.sorted() == ["once c created"])
            #expect(await world.other.subscriptions(in: .private, of: world.fixture.identity.user) == .success([]))
        }
    }

    @Test func `R-265: whoever subscribes at the server itself is told of records alone`() throws {
        let world = try World()
        try world.fixture.scheduler.simulate {
            for (name, counter) in [("a", 1), ("b", 2)] as [(String, UInt64)] { try await world.write(name, counter) }
            try await world.save(world.subscription("own"), at: world.writer)
            world.writer.forgetQueries(of: world.database)
            try await world.rest()
            #expect(world.fired.sorted() == [])
            try await world.write("c", 3)
            #expect(world.fired.sorted() == ["own c created"])
        }
    }

    @Test func `R-265, I-4: without a notice it is told after a gap, by the next change, or by the sweep`() throws {
        for way in ["gap", "change", "sweep"] {
            let world = try World()
            try world.fixture.scheduler.simulate {
                try await world.write("a", 1)
                try await world.save(world.subscription("new"), at: world.other)
                try await world.write("b", 2)
                #expect(world.fired.sorted() == [])
                if way != "gap" { try await world.rest(31) }
                switch way {
                case "gap": world.writer.forgetAllQueries()
                case "change": try await world.write("c", 3)
                default: world.writer.sweepQueries()
                }
                try await world.rest()
                #expect(world.fired.sorted() == ["new ? ?"] + (way == "change" ? ["new c created"] : []), "\(way)")
            }
        }
    }
}
