// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkFairness
import TidemarkFields
import TidemarkService
import TidemarkTestSupport

@testable import TidemarkStore

/// Queries that take longer than an index would.
@Suite struct QueryConnectionsTimesTests {
    /// Looks at every record for each of many conditions.
    private static let slow = QueryPredicate.and(
        (0..<300).map { .compare(.field("s"), .notEqual, .string("no\($0)")) })

    private func withRecords(
        _ times: QueryTimes, _ body: @escaping @Sendable (CloudService, QueryFixture, FairGate) async throws -> Void
    ) async throws {
        try await QueryFixture.run { fixture in
            let records = (0..<800).map { (name: "n\($0)", fields: [Field("s", .string("\($0)"))]) }
            try await fixture.save(records, zone: "notes", counter: 1)
            // Marks the field.
            _ = try await fixture.ask(.compare(.field("s"), .equal, .string("1"))).get()
            let gate = PostgresStorage.longQueryTurns(1, within: Limits(), on: fixture.loop)
            let storage = try PostgresStorage(
                url: fixture.url, loop: fixture.loop, connections: 1, queryTimes: times, longQueries: gate)
            let service = CloudService(
                storage: storage, scheduler: fixture.loop, limits: Limits(), onMoved: { _ in })
            try await body(service, fixture, gate)
            await service.stop()
            await storage.stop()
        }
    }

    private func ask(
        _ service: CloudService, _ fixture: QueryFixture, for owner: WorkOwner = .account(1)
    ) async -> Result<QueryPage, QueryRefusal> {
        await service.queryRecords(
            Query(recordType: "T", zoneName: "notes", predicate: Self.slow), in: fixture.identity.privateDatabase,
            of: fixture.identity.container, by: .owner(fixture.identity.user), cursor: [], recordsMax: 0,
            for: WorkTurn(of: owner))
    }

    @Test func `R-715: a query that takes too long is refused with what to do, and is no internal error`() async throws
    {
        var times = QueryTimes(within: Limits())
        times.short = .milliseconds(1)
        times.long = .milliseconds(1)
        try await withRecords(times) { service, fixture, _ in
            guard case .failure(let refusal) = await ask(service, fixture) else {
                Issue.record("not refused")
                return
            }
            #expect(refusal.reason == .queryTooSlow)
            #expect(refusal.text.contains("index") && refusal.text.contains("The limit is 3 seconds per query"))
        }
    }

    @Test func `R-711, R-714: an account's query passes those of an account that has asked for many`() async throws {
        var times = QueryTimes(within: Limits())
        times.short = .seconds(30)
        try await withRecords(times) { service, fixture, _ in
            let count = 24
            let before = try await withThrowingTaskGroup(of: WorkOwner.self) { group in
                for _ in 0..<count {
                    group.addTask {
                        _ = try await ask(service, fixture).get()
                        return .account(1)
                    }
                }
                // All of them wait when the first is done.
                _ = try await group.next()
                group.addTask {
                    _ = try await ask(service, fixture, for: .account(2)).get()
                    return .account(2)
                }
                var before = 0
                while let owner = try await group.next(), owner == .account(1) { before += 1 }
                return before
            }
            // Those that were under way, and a turn or two. In the order of arrival it would be the last.
            #expect(before <= 12, "\(before) of \(count)")
        }
    }

    @Test func `R-714: a query that is not soon done goes on among the long ones, and finds the same`() async throws {
        var times = QueryTimes(within: Limits())
        times.short = .milliseconds(1)
        times.long = .seconds(60)
        try await withRecords(times) { service, fixture, _ in
            let page = try await ask(service, fixture).get()
            let expected = try await ask(fixture.service, fixture).get()
            #expect(page.matches.map(\.record.name) == expected.matches.map(\.record.name))
            #expect(!page.matches.isEmpty)
        }
    }

    @Test func `R-781: a long query takes a turn among those of all event loops, also when it begins as one`()
        async throws
    {
        var times = QueryTimes(within: Limits())
        times.short = .milliseconds(1)
        times.long = .seconds(60)
        try await withRecords(times) { service, fixture, gate in
            // The last ones are known to be slow.
            for _ in 0...SlowQueries.lateMin {
                let ticket = try await gate.enter(.account(9))
                let asked = fixture.loop.run { await ask(service, fixture) }
                try await eventually { gate.waitingCount == 1 }
                gate.leave(ticket)
                #expect(try await !asked.value.get().matches.isEmpty)
            }
        }
    }

    @Test func `R-781: of two places for long queries one account takes one, of one it takes that`() async throws {
        try await QueryFixture.run { fixture in
            for (room, waitingCount) in [(1, 1), (2, 1), (3, 0)] {
                let gate = PostgresStorage.longQueryTurns(room, within: Limits(), on: fixture.loop)
                let first = try await gate.enter(.account(1))
                let second = fixture.loop.runThrowing { try await gate.enter(.account(1)) }
                try await eventually { gate.waitingCount == waitingCount }
                if waitingCount == 0 { gate.leave(try await second.value) }
                gate.leave(first)
                if waitingCount == 1 { gate.leave(try await second.value) }
            }
        }
    }
}
