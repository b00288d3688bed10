// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkFields

/// Query subscriptions of `alice` on the type `Item`.
func watching(
    _ id: String, _ predicate: QueryPredicate = .always(true), _ options: SubscriptionQuery.Options = .changes,
    of user: UserID = alice, scope: DatabaseScope = .private, type: String? = "Item", zone: String? = nil
) -> WatchingSubscription {
    WatchingSubscription(
        user: user, container: ContainerID(1),
        subscription: Subscription(
            id: id, scope: scope, kind: .query, recordType: type, zoneName: zone, notificationInfo: [],
            query: SubscriptionQuery(
                database: database, predicate: predicate, options: options, predicateBytes: [1, 2, 3])))
}

@Suite struct SubscriptionQueryTests {
    typealias Match = SubscriptionQuery.Match

    /// Written out by hand: what each pair of versions is, if the option for it is on.
    static let table: [(old: Match, new: Match, reason: QueryReason?)] = [
        (.absent, .absent, nil), (.absent, .differs, nil), (.absent, .matches, .created),
        (.differs, .absent, nil), (.differs, .differs, nil), (.differs, .matches, .updated),
        (.matches, .absent, .deleted), (.matches, .differs, .updated), (.matches, .matches, .updated),
    ]

    @Test func `R-245: what fires, by old and new version, predicate and options`() {
        #expect(Self.table.count == Match.allCases.count * Match.allCases.count)
        for bits in UInt32(0)..<16 {
            let options = SubscriptionQuery.Options(rawValue: bits)
            let query = SubscriptionQuery(
                database: database, predicate: .always(true), options: options, predicateBytes: [])
            for (old, new, reason) in Self.table {
                let wanted: SubscriptionQuery.Options =
                    switch reason {
                    case .created: .creation
                    case .updated: .update
                    case .deleted: .deletion
                    case nil: []
                    }
                let expected = reason != nil && options.contains(wanted) ? reason : nil
                #expect(query.reason(old: old, new: new) == expected, "\(bits): \(old) to \(new)")
            }
        }
    }

    @Test func `R-241, R-244: which query subscriptions can be saved`() {
        let field = QueryKey.field("k")
        let deep = (0..<40).reduce(QueryPredicate.always(true)) { inner, _ in .and([inner]) }
        let rows: [(WatchingSubscription, FailureReason?)] = [
            (watching("s"), nil), (watching("s", scope: .public), nil),
            (watching("s", scope: .shared), .subscriptionInvalid), (watching("s", type: nil), .subscriptionInvalid),
            (watching("s", .always(true), []), .subscriptionInvalid),
            (watching("s", .always(true), .once), .subscriptionInvalid),
            (watching("s", .always(true), [.creation, .once]), nil),
            (watching("s", .always(true), .init(rawValue: 17)), .subscriptionInvalid),
            (watching("s", zone: "Notes"), nil), (watching("s", zone: "_no zone"), .subscriptionInvalid),
            (watching("s", zone: ZoneName.default), nil),
            (watching("s", scope: .public, zone: ZoneName.default), nil),
            (watching("s", scope: .public, zone: "Notes"), .subscriptionInvalid),
            (watching("s", type: "no type"), .recordTypeInvalid),
            (watching("s", type: "Users"), .recordTypeNotQueryable),
            (watching("s", .not(.and([.always(true)]))), .negationInvalid), (watching("s", deep), .queryTooLarge),
            (watching("s", .compare(field, .less, .reference(QueryReference(recordName: "r")))), .operatorInvalid),
        ]
        for (watching, reason) in rows {
            #expect(watching.subscription.refusal(within: Limits()) == reason, "\(watching.subscription)")
        }
    }

    @Test func `R-846: a predicate of more bytes than are kept is refused`() {
        for (count, reason) in [(8_192, nil), (8_193, FailureReason.queryTooLarge)] {
            let subscription = Subscription(
                id: "s", scope: .private, kind: .query, recordType: "Item", notificationInfo: [],
                query: SubscriptionQuery(
                    database: database, predicate: .always(true), options: .changes,
                    predicateBytes: Array(repeating: 0, count: count)))
            #expect(subscription.refusal(within: Limits()) == reason)
        }
    }

    @Test func `R-244: what the schema does not let queries use is refused`() {
        let fields = QueryFields(
            ["secret": .init(.string, isEncrypted: true), "k": .init(.int64)], allowsOthers: false)
        let rows: [(String, FailureReason?)] = [
            ("k", nil), ("secret", .fieldEncrypted), ("other", .queryFieldUnknown),
        ]
        for (name, reason) in rows {
            let subscription = watching("s", .isPresent(.field(name), true)).subscription
            #expect(subscription.refusal(within: Limits(), fields: fields) == reason)
        }
    }

    @Test func `R-253: a query subscription is pushed for its records, and when anything may have changed`() {
        let subscription = watching("s", zone: "Notes").subscription
        #expect(subscription.zonesPushed(ofMoved: []) == [])
        for moved in [["Notes"], ["Other"], [""]] { #expect(subscription.zonesPushed(ofMoved: moved) == nil) }
    }

    @Test func `R-030: only a subscription to a custom zone ends with it`() {
        #expect(watching("s", zone: "Notes").subscription.endingZoneName == "Notes")
        #expect(watching("s", zone: ZoneName.default).subscription.endingZoneName == nil)
        #expect(watching("s").subscription.endingZoneName == nil)
        let saves = SubscriptionSaves(
            [
                watching("a").subscription, watching("b", zone: "Notes").subscription,
                watching("c", zone: "No").subscription,
            ],
            kept: [:], zones: ["Notes": ZoneID(5)], atMost: 10)
        #expect(saves.refusals == [nil, nil, .zoneNotFound])
        #expect(saves.stored.mapValues(\.zone)[Subscription.Key(scope: .private, id: "b")] == ZoneID(5))
    }

    @Test func `I-7: subscriptions of one user leave room in the memory of a public database`() {
        func subscription(_ number: Int, _ scope: DatabaseScope, bytes: Int) -> Subscription {
            Subscription(
                id: "\(number)", scope: scope, kind: .query, recordType: "Note", notificationInfo: [],
                query: SubscriptionQuery(
                    database: DatabaseID(1), predicate: .always(true), options: .changes,
                    predicateBytes: Array(repeating: 1, count: bytes)))
        }
        func refusals(_ saves: [Subscription], kept: [Subscription] = []) -> [FailureReason?] {
            SubscriptionSaves(
                saves, kept: Dictionary(uniqueKeysWithValues: kept.map { ($0.key, $0.publicBytes) }), zones: [:],
                atMost: 250
            ).refusals
        }
        let long = (0..<17).map { subscription($0, .public, bytes: 8_000) }
        // whoever has encoded them already says so, with the same outcome.
        let encoded = SubscriptionSaves(
            long, encoded: long.map(\.queryBytes), kept: [:], zones: [:], atMost: 250)
        #expect(encoded.refusals == refusals(long))
        #expect(encoded.stored[long[3].key]?.queryBytes == long[3].queryBytes && encoded.stored.count == 16)
        #expect(refusals(long).prefix(16).allSatisfy { $0 == nil } && refusals(long).last == .tooManySubscriptions)
        // One may be replaced by a shorter one, but not by a longer one.
        let kept = Array(long.prefix(16))
        #expect(refusals([subscription(3, .public, bytes: 8_190)], kept: kept) == [nil])
        #expect(
            refusals([subscription(3, .public, bytes: 100), long[16]], kept: kept) == [nil, nil])
        let many = kept + [subscription(16, .public, bytes: 2_800)]
        #expect(refusals([subscription(3, .public, bytes: 8_190)], kept: many) == [.tooManySubscriptions])
        // Others have them in their own memory.
        #expect(refusals((0..<250).map { subscription($0, .private, bytes: 8_000) }).allSatisfy { $0 == nil })
        #expect(refusals((0..<250).map { subscription($0, .public, bytes: 400) }).allSatisfy { $0 == nil })
    }

    /// At least one predicate of each kind, and values of each kind.
    static let predicates: [QueryPredicate] = [
        .always(true), .always(false), .compare(.field("k"), .equal, .string("a\u{0}ü")),
        .compare(.system(.creationDate), .less, .date(milliseconds: .min)),
        .compare(.system(.creatorUserRecordID), .notEqual, .user(nil)),
        .compare(.system(.creatorUserRecordID), .equal, .user(UserID(.max))),
        .between(.field("k"), .int64(.min), .double(-0.0)), .beginsWith(.field("k"), ""),
        .isIn(.field("k"), []), .isIn(.field("k"), [.double(.infinity), .int64(1)]),
        .contains(.field("k"), .reference(QueryReference(recordName: "r", zone: .elsewhere))),
        .containsAny(.field("k"), [.reference(QueryReference(recordName: "r", zone: .named("z"))), .string("")]),
        .isPresent(.field("k"), true), .isPresent(.system(.parent), false),
        .isNear(.field("p"), QueryLocation(latitude: -90, longitude: 180), metres: 0.5, isInclusive: true),
        .isNear(.field("p"), QueryLocation(latitude: 1, longitude: 2), metres: 7, isInclusive: false),
        .search("two words"), .and([]),
        .and([.always(true), .not(.isPresent(.field("k"), true)), .and([.search("")])]),
    ]

    @Test func `R-244: what is stored of a query is read as it was`() throws {
        for predicate in Self.predicates {
            for zoneName in [nil, "", "Notes"] {
                let query = SubscriptionQuery(
                    database: database, predicate: predicate, options: [.update, .once], predicateBytes: [0, 255])
                let bytes = query.encoded(zoneName: zoneName)
                let read = try #require(SubscriptionQuery.decoded(bytes, of: database), "\(predicate)")
                #expect(read.query == query)
                #expect(read.zoneName == zoneName)
                // Bytes that were cut or have more behind them are none.
                for count in bytes.indices {
                    #expect(SubscriptionQuery.decoded(Array(bytes.prefix(count)), of: database) == nil)
                }
                #expect(SubscriptionQuery.decoded(bytes + [0], of: database) == nil)
            }
        }
    }

    @Test func `I-7: a stored predicate that is too deep is not read`() {
        func isRead(_ depth: Int) -> Bool {
            let predicate = (0..<depth).reduce(QueryPredicate.always(true)) { inner, _ in .and([inner]) }
            let query = SubscriptionQuery(
                database: database, predicate: predicate, options: .creation, predicateBytes: [])
            return SubscriptionQuery.decoded(query.encoded(zoneName: nil), of: database) != nil
        }
        #expect(isRead(Limits().predicateDepthMax))
        #expect(!isRead(200))
    }
}
