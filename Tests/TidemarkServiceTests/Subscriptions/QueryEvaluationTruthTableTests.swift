// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkFields
import TidemarkScheduling
import TidemarkService
import TidemarkTestKit
import TidemarkTestSupport

/// What fires: every pair of versions, with every kind of predicate and every choice of options, through a whole server.
@Suite struct QueryEvaluationTruthTableTests {
    enum Version: CaseIterable { case absent, differs, matches }

    /// Written out by hand.
    private static let table: [(old: Version, new: Version, reason: QueryReason?)] = [
        (.absent, .absent, nil), (.absent, .differs, nil), (.absent, .matches, .created),
        (.differs, .absent, nil), (.differs, .differs, nil), (.differs, .matches, .updated),
        (.matches, .absent, .deleted), (.matches, .differs, .updated), (.matches, .matches, .updated),
    ]

    private static let key = QueryKey.field("text")

    /// Each finds `hit` and not `miss`, in whatever case. They are found in the index in different ways.
    private static let predicates: [(name: String, predicate: QueryPredicate)] = [
        ("equals", .compare(key, .equal, .string("hit"))),
        ("both", .and([.isPresent(key, true), .compare(key, .equal, .string("Hit"))])),
        ("not", .not(.compare(key, .equal, .string("miss")))), ("in", .isIn(key, [.string("hit"), .string("other")])),
        ("unequal", .compare(key, .notEqual, .string("Miss"))),
        ("twice", .not(.not(.compare(key, .equal, .string("hit"))))),
    ]

    /// All with at least one kind of change.
    private static let options = (1...15 as ClosedRange<UInt32>).map { SubscriptionQuery.Options(rawValue: $0) }
        .filter { !$0.isDisjoint(with: .changes) }

    private static func subscriptions(in database: DatabaseID) -> [Subscription] {
        predicates.flatMap { name, predicate in
            options.map { options in
                Subscription(
                    id: "\(name) \(options.rawValue)", scope: .private, kind: .query, recordType: "Note",
                    notificationInfo: [],
                    query: SubscriptionQuery(
                        database: database, predicate: predicate, options: options, predicateBytes: []))
            }
        }
    }

    /// Whether the subscription fires on this change of a record.
    private static func fires(_ subscription: Subscription, _ reason: QueryReason?) -> Bool {
        let options = subscription.query?.options ?? []
        return switch reason {
        case .created: options.contains(.creation)
        case .updated: options.contains(.update)
        case .deleted: options.contains(.deletion)
        case nil: false
        }
    }

    @Test func `R-245, R-246: old and new version, predicate, options and firing once, through a server`() throws {
        let fixture = try ServiceFixture()
        let fired = FiredQueries()
        let server = fixture.server(firesQueries: true) { fired.take($0) }
        let (user, database) = (fixture.identity.user, fixture.identity.privateDatabase)
        let all = Self.subscriptions(in: database)
        #expect(all.count == 84 && Self.table.count == Version.allCases.count * Version.allCases.count)
        try fixture.scheduler.simulate {
            var counter: UInt64 = 0
            /// - Parameter text: nil: it is deleted.
            func write(_ name: String, _ text: String?) async throws {
                counter += 1
                let request = try fixture.saving(
                    text == nil ? [] : [name], deleting: text == nil ? [name] : [], text: text ?? "",
                    id: RequestID(DeviceID(high: 0, low: 1), counter))
                _ = try await server.modify(request).get()
                try await fixture.scheduler.sleep(for: .seconds(1))
            }
            /// In another case than before, so that each write is a change.
            func text(_ version: Version, isNew: Bool) -> String? {
                switch version {
                case .absent: nil
                case .differs: isNew ? "MISS" : "miss"
                case .matches: isNew ? "HIT" : "hit"
                }
            }
            func change(saves: [Subscription], deletes: [String]) async throws {
                _ = try await server.modifySubscriptions(saves: saves, deletes: deletes, scope: .private, of: user)
                    .get()
                server.forgetQueries(of: database)
            }
            for (old, new, reason) in Self.table {
                let names = ["first", "second"].map { "\($0) \(old) \(new)" }
                for name in names where old != .absent { try await write(name, text(old, isNew: false)) }
                try await change(saves: all, deletes: [])
                #expect(fired.sorted().isEmpty)
                for (index, name) in names.enumerated() {
                    try await write(name, text(new, isNew: true))
                    let expected = all.filter { subscription in
                        // One that fires once has ended with the first.
                        let isOver = index > 0 && subscription.query?.options.contains(.once) == true
                        return Self.fires(subscription, reason) && !isOver
                    }
                    let reasonText = reason.map { "\($0)" } ?? ""
                    #expect(fired.sorted() == expected.map { "\($0.id) \(name) \(reasonText)" }.sorted(), "\(name)")
                }
                let left = try await server.subscriptions(in: .private, of: user).get()
                let kept = all.filter { subscription in
                    subscription.query?.options.contains(.once) != true || !Self.fires(subscription, reason)
                }
                #expect(left.map(\.id) == kept.map(\.id).sorted(), "\(old) to \(new)")
                try await change(saves: [], deletes: left.map(\.id))
                for name in names where new != .absent { try await write(name, nil) }
            }
            #expect(fired.sorted().isEmpty)
        }
    }
}
