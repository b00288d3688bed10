// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing
import TidemarkDomain
import TidemarkFields
import TidemarkScheduling
import TidemarkService
import TidemarkTestSupport

@Suite struct QueryEvaluationTextsTests {
    /// How often work went elsewhere for one save, and what fired.
    private func fire(
        _ predicates: [QueryPredicate], on texts: [String]
    ) throws -> (jobs: [Int], fired: [Set<String>]) {
        let fixture = try ServiceFixture()
        let fired = Mutex<Set<String>>([])
        let elsewhere = CountingExecutor(fixture.scheduler)
        let server = fixture.server(sharedWrites: SharedWrites(largeGroups: elsewhere), firesQueries: true) { moved in
            fired.withLock { $0.formUnion(moved.fired.map(\.subscription.id)) }
        }
        let database = fixture.identity.privateDatabase
        let subscriptions = predicates.enumerated().map { number, predicate in
            Subscription(
                id: "\(number)", scope: .private, kind: .query, recordType: "Note", notificationInfo: [],
                query: SubscriptionQuery(
                    database: database, predicate: predicate, options: .creation, predicateBytes: []))
        }
        return try fixture.scheduler.simulate {
            _ = try await server.modifySubscriptions(
                saves: subscriptions, deletes: [], scope: .private, of: fixture.identity.user
            ).get()
            server.forgetQueries(of: database)
            var (jobs, all): ([Int], [Set<String>]) = ([], [])
            for (number, text) in texts.enumerated() {
                let before = elsewhere.count
                let id = RequestID(DeviceID(high: 0, low: 1), UInt64(number) + 1)
                _ = try await server.modify(try fixture.saving(["note \(number)"], text: text, id: id)).get()
                try await fixture.scheduler.sleep(for: .seconds(1))
                jobs.append(elsewhere.count - before)
                all.append(fired.withLock { $0 })
                fired.withLock { $0 = [] }
            }
            return (jobs, all)
        }
    }

    @Test func `R-292: long texts are made comparable beside the event loop, once for all predicates`() throws {
        let long = String(repeating: "Old harbour ", count: 2_000)
        let searches = (0..<20).map { QueryPredicate.search($0 == 7 ? "missing" : "harbour") }
        let one = try fire(Array(searches.prefix(1)), on: ["old harbour", long])
        #expect(one.fired == [["0"], ["0"]])
        #expect(one.jobs[0] == 0, "a short text is made comparable on the loop")
        #expect(one.jobs[1] > 0)
        let different = searches.enumerated().map { QueryPredicate.and([$1, .isPresent(.field("none\($0)"), false)]) }
        let many = try fire(different, on: [long])
        #expect(many.fired == [Set((0..<20).filter { $0 != 7 }.map(String.init))])
        #expect(many.jobs == [one.jobs[1]])
    }

    @Test func `R-292: a long text is not folded on the event loop to find predicates`() throws {
        let long = String(repeating: "Ähre ", count: 5_000)
        let equal = QueryPredicate.compare(.field("text"), .equal, .string("ähre"))
        let found = try fire([equal, .compare(.field("text"), .equal, .string("other"))], on: ["Ähre", long])
        #expect(found.fired == [["0"], []])
        #expect(found.jobs[0] == 0 && found.jobs[1] > 0)
        let other = try fire([.compare(.field("none"), .equal, .string("x"))], on: [long])
        #expect(other.jobs == [0], "nobody asks for the text")
    }
}
