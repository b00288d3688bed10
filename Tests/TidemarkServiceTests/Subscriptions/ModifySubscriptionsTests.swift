// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkScheduling
import TidemarkService
import TidemarkTestKit
import TidemarkTestSupport

@Suite struct ModifySubscriptionsTests {
    @Test func `R-241, R-242: subscriptions are saved, replaced, fetched and deleted, each with its own result`() throws
    {
        let fixture = try ServiceFixture()
        let service = fixture.server()
        try fixture.scheduler.simulate {
            let user = fixture.identity.user
            func subscription(_ id: String, _ scope: DatabaseScope = .private, type: String? = nil) -> Subscription {
                Subscription(id: id, scope: scope, kind: .database, recordType: type, notificationInfo: [])
            }
            let saved = try await service.modifySubscriptions(
                saves: [subscription("a"), subscription("a", .public), subscription("a", type: "Note")],
                deletes: ["none", "\u{1}"], scope: .private, of: user
            ).get()
            #expect(
                saved.saves == [
                    .success(subscription("a")), .failure(.subscriptionInvalid),
                    .success(subscription("a", type: "Note")),
                ])
            #expect(saved.deletes.map(\.reason) == [.subscriptionUnknown, .subscriptionUnknown])
            #expect(
                await service.subscriptions(in: .private, of: user) == .success([subscription("a", type: "Note")]))
            #expect(await service.subscriptions(in: .shared, of: user) == .success([]))
            let deleted = try await service.modifySubscriptions(
                saves: [], deletes: ["a"], scope: .private, of: user
            ).get()
            #expect(deleted.deletes.map(\.reason) == [nil])
        }
    }

    @Test func `R-847: only what changes query subscriptions makes servers read them again`() throws {
        let fixture = try ServiceFixture()
        let service = fixture.server()
        let lossy = fixture.server(faults: FaultScript(always: [.callAnswered: .disconnect]).plan)
        try fixture.scheduler.simulate { () async throws in
            let (user, database) = (fixture.identity.user, fixture.identity.privateDatabase)
            func query(_ id: String) -> Subscription {
                Subscription(
                    id: id, scope: .private, kind: .query, recordType: "Note", notificationInfo: [],
                    query: SubscriptionQuery(
                        database: database, predicate: .always(true), options: .changes, predicateBytes: []))
            }
            let other = Subscription(id: "d", scope: .private, kind: .database, recordType: nil, notificationInfo: [])
            func changes(
                _ saves: [Subscription], _ deletes: [String] = [], at service: CloudService
            ) async throws -> Bool {
                try await service.modifySubscriptions(saves: saves, deletes: deletes, scope: .private, of: user).get()
                    .mayChangeQueries
            }
            #expect(try await changes([query("q")], at: service))
            #expect(try await changes([other], at: service) == false)
            #expect(try await changes([query("")], ["none", "\u{1}"], at: service) == false)
            #expect(try await changes([], ["q"], at: service))
            // Nobody knows whether it is saved.
            #expect(try await changes([query("q")], at: lossy))
        }
    }

    @Test func `I-7: a user has a bounded number of subscriptions, and may go on replacing them`() throws {
        let fixture = try ServiceFixture()
        var limits = Limits()
        limits.subscriptionsMax = 2
        let service = fixture.server(limits: limits)
        try fixture.scheduler.simulate {
            let wishes = ["a", "b", "c", "a"].map {
                Subscription(id: $0, scope: .private, kind: .database, recordType: nil, notificationInfo: [])
            }
            let outcome = try await service.modifySubscriptions(
                saves: wishes, deletes: [], scope: .private, of: fixture.identity.user
            ).get()
            #expect(outcome.saves.map(\.reason) == [nil, nil, .tooManySubscriptions, nil])
        }
    }

    @Test func `R-718, R-242: subscriptions of one request are two calls of the store, also if answers are lost`()
        throws
    {
        let fixture = try ServiceFixture()
        var limits = Limits()
        limits.subscriptionsMax = 200
        let script = FaultScript()
        let lossy = FaultScript(first: [.callAnswered: [.disconnect, .none, .disconnect]])
        let service = fixture.server(faults: script.plan, limits: limits)
        let again = fixture.server(faults: lossy.plan, limits: limits)
        try fixture.scheduler.simulate {
            let saves = (0..<250).map { number in
                Subscription(
                    id: "\(number)", scope: number == 7 ? .shared : .private, kind: .database, recordType: nil,
                    notificationInfo: [])
            }
            let deletes = ["3", "\u{1}", "3", "4"] + (0..<146).map { "\($0 + 54)" }
            func modify(_ service: CloudService) async throws -> SubscriptionsOutcome {
                try await service.modifySubscriptions(
                    saves: saves, deletes: deletes, scope: .private, of: fixture.identity.user
                ).get()
            }
            let outcome = try await modify(service)
            #expect(script.count(.callSent) == 2)
            let refusals = (0..<250).map { number -> FailureReason? in
                if number == 7 { return .subscriptionInvalid }
                return number <= 200 ? nil : .tooManySubscriptions
            }
            #expect(outcome.saves.map(\.reason) == refusals)
            #expect(outcome.deletes.prefix(4).map(\.reason) == [nil, .subscriptionUnknown, .subscriptionUnknown, nil])
            #expect(outcome.deletes.dropFirst(4).allSatisfy { $0.reason == nil })
            // The deletions have made room for what was saved before, and for no more.
            let repeated = try await modify(again)
            #expect(lossy.count(.callSent) == 4)
            #expect(repeated.saves.map(\.reason) == outcome.saves.map(\.reason))
            #expect(repeated.deletes.map(\.reason) == outcome.deletes.map(\.reason))
        }
    }

    @Test func `a deletion whose answer was lost is a success`() throws {
        let fixture = try ServiceFixture()
        let script = FaultScript(first: [.callAnswered: [.none, .disconnect]])
        let service = fixture.server(faults: script.plan)
        try fixture.scheduler.simulate {
            let subscription = Subscription(
                id: "a", scope: .private, kind: .database, recordType: nil, notificationInfo: [])
            let user = fixture.identity.user
            _ = await service.modifySubscriptions(saves: [subscription], deletes: [], scope: .private, of: user)
            let outcome = try await service.modifySubscriptions(
                saves: [], deletes: ["a"], scope: .private, of: user
            ).get()
            #expect(outcome.deletes.map(\.reason) == [nil])
        }
    }
}
