// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkFields
import TidemarkStore
import TidemarkTestSupport

/// The predicates of the queries' tests as subscriptions. What fires follows from what PostgreSQL finds before and after a
/// change. So the index and the evaluator of the servers are compared with another implementation.
@Suite struct PostgresStorageSubscriptionsAsQueriesTests {
    private struct Place: Hashable {
        let zone: String
        let name: String
    }

    private static func watching(_ query: Query, number: Int, in database: DatabaseID) -> WatchingSubscription {
        WatchingSubscription(
            user: UserID(1), container: ContainerID(1),
            subscription: Subscription(
                id: "\(number)", scope: .private, kind: .query, recordType: query.recordType, zoneName: query.zoneName,
                notificationInfo: [],
                query: SubscriptionQuery(
                    database: database, predicate: query.predicate, options: .changes, predicateBytes: [])))
    }

    private static func tombstone(_ record: RecordState) -> RecordState {
        RecordState(
            name: record.name, type: record.type, fields: FieldMap(), changeNumber: record.changeNumber + 1,
            isDeleted: true, parent: nil, createdAt: record.createdAt, createdBy: record.createdBy,
            createdByDevice: record.createdByDevice, modifiedAt: record.modifiedAt, modifiedBy: record.modifiedBy,
            batchEnd: record.changeNumber + 1)
    }

    /// What each query finds.
    private static func found(_ queries: [Query], in fixture: QueryFixture) async throws -> [Set<Place>] {
        var found: [Set<Place>] = []
        for query in queries {
            let matches = try await fixture.results(of: query)
            found.append(Set(matches.map { Place(zone: $0.zoneName, name: $0.record.name) }))
        }
        return found
    }

    private static func living(in fixture: QueryFixture) async throws -> [Place: RecordState] {
        Dictionary(
            uniqueKeysWithValues: try await fixture.records().map {
                (Place(zone: $0.zone, name: $0.record.name), $0.record)
            })
    }

    @Test func `R-245: a subscription fires exactly if its query finds the record before the change or after it`()
        async throws
    {
        try await QueryFixture.run { fixture in
            var dice = QueryDice(random: SeededRandom())
            let seed = dice.random.seed
            var counter: UInt64 = 1
            try await fixture.save([("n0", QueryDice.first)], zone: "notes", counter: counter)
            for zone in fixture.zones {
                counter += 1
                let records = (1..<25).map { (name: "n\($0)", fields: dice.fields()) }
                try await fixture.save(records, zone: zone, counter: counter)
            }
            var seen: Set<QueryReason> = []
            var silentCount = 0
            for _ in 0..<2 {
                var before = try await Self.living(in: fixture)
                let dates = before.values.map(\.createdAt.milliseconds).sorted()
                let queries = (0..<30).map { _ in dice.query(users: [fixture.identity.user], dates: dates) }
                let index = QueryIndex(
                    queries.enumerated().map { number, query in
                        Self.watching(query, number: number, in: fixture.identity.privateDatabase)
                    })
                var foundBefore = try await Self.found(queries, in: fixture)
                for _ in 0..<8 {
                    // Also names that have no record.
                    let place = Place(
                        zone: dice.pick(fixture.zones), name: "n\(Int.random(in: 1..<30, using: &dice.random))")
                    counter += 1
                    if before[place] != nil, Int.random(in: 0..<4, using: &dice.random) == 0 {
                        try await fixture.delete([place.name], zone: place.zone, counter: counter)
                    } else {
                        try await fixture.save([(place.name, dice.fields())], zone: place.zone, counter: counter)
                    }
                    let after = try await Self.living(in: fixture)
                    let foundAfter = try await Self.found(queries, in: fixture)
                    let (old, new) = (before[place], after[place])
                    let last = try #require(new ?? old.map(Self.tombstone))
                    let firings = index.firings(from: old, to: last, in: place.zone)
                    let fired = Dictionary(
                        uniqueKeysWithValues: firings.map { ($0.watching.subscription.id, $0.reason) })
                    for (number, query) in queries.enumerated() {
                        let wasFound = foundBefore[number].contains(place)
                        let isFound = foundAfter[number].contains(place)
                        let expected: QueryReason? =
                            switch (old, new) {
                            case (nil, _): isFound ? .created : nil
                            case (_, nil): wasFound ? .deleted : nil
                            default: wasFound || isFound ? .updated : nil
                            }
                        #expect(fired["\(number)"] == expected, "seed \(seed): \(query) on \(place)")
                        if let expected { seen.insert(expected) } else { silentCount += 1 }
                        // No other record has changed.
                        #expect(
                            foundBefore[number].subtracting([place]) == foundAfter[number].subtracting([place]),
                            "seed \(seed): \(query)")
                    }
                    (before, foundBefore) = (after, foundAfter)
                }
            }
            #expect(!seen.isEmpty && silentCount > 0, "seed \(seed)")
        }
    }
}
