// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkFields

@testable import TidemarkDomain

@Suite struct QueryIndexTests {
    static func record(
        _ name: String = "r", type: String = "Item", k: Int64? = nil, t: String? = nil, at createdAt: Timestamp = 1_000
    ) -> RecordState {
        var fields: [Field] = []
        if let k { fields.append(Field("k", .int64(k))) }
        if let t { fields.append(Field("t", .string(t))) }
        do {
            return RecordState(
                name: name, type: type, fields: try FieldMap(fields), changeNumber: 1, isDeleted: false, parent: nil,
                createdAt: createdAt, createdBy: alice, createdByDevice: phone, modifiedAt: 2_000, modifiedBy: bob,
                batchEnd: 1)
        } catch {
            preconditionFailure("\(error)")
        }
    }

    static func tombstone(_ record: RecordState) -> RecordState {
        RecordState(
            name: record.name, type: record.type, fields: FieldMap(), changeNumber: 2, isDeleted: true, parent: nil,
            createdAt: 1_000, createdBy: alice, createdByDevice: phone, modifiedAt: 3_000, modifiedBy: bob, batchEnd: 2)
    }

    static func ids(_ firings: [QueryIndex.Firing]) -> [String] { firings.map(\.watching.subscription.id) }

    static func isK(_ number: Int64) -> QueryPredicate { .compare(.field("k"), .equal, .int64(number)) }

    @Test func `R-245: only subscriptions of the type and zone fire`() {
        let index = QueryIndex([
            watching("all"), watching("zone", zone: "Notes"), watching("elsewhere", zone: "Other"),
            watching("type", type: "Other"),
        ])
        #expect(index.count == 4)
        let new = Self.record()
        #expect(Self.ids(index.firings(from: nil, to: new, in: "Notes")) == ["all", "zone"])
        #expect(Self.ids(index.firings(from: nil, to: new, in: "Third")) == ["all"])
        #expect(Self.ids(index.firings(from: nil, to: Self.record(type: "Other"), in: "Notes")) == ["type"])
        #expect(index.watches("Item") && !index.watches("None"))
        #expect(QueryIndex([]).isEmpty && QueryIndex([]).firings(from: nil, to: new, in: "Notes").isEmpty)
    }

    @Test func `R-245: a change that makes a record start or stop matching fires an update`() {
        let index = QueryIndex([watching("one", Self.isK(1)), watching("two", Self.isK(2))])
        let (one, two) = (Self.record(k: 1), Self.record(k: 2))
        #expect(Self.ids(index.firings(from: one, to: two, in: "Notes")) == ["one", "two"])
        #expect(index.firings(from: one, to: two, in: "Notes").map(\.reason) == [.updated, .updated])
        #expect(Self.ids(index.firings(from: nil, to: one, in: "Notes")) == ["one"])
        #expect(index.firings(from: one, to: Self.tombstone(one), in: "Notes").map(\.reason) == [.deleted])
        // A tombstone over nothing, and a record that comes back after its deletion.
        #expect(index.firings(from: nil, to: Self.tombstone(one), in: "Notes").isEmpty)
        #expect(index.firings(from: Self.tombstone(two), to: two, in: "Notes").map(\.reason) == [.created])
    }

    @Test func `R-245: a record that was deleted and created again is deleted and created`() {
        let index = QueryIndex([
            watching("new", .always(true), .creation), watching("gone", .always(true), .deletion),
            watching("changed", .always(true), .update), watching("other", type: "Other"),
        ])
        func fired(_ old: RecordState?, _ new: RecordState) -> [String] {
            QueryIndex.changes(from: old, to: new).flatMap { old, new in
                index.firings(from: old, to: new, in: "Notes").map { "\($0.watching.subscription.id) \($0.reason)" }
            }
        }
        let old = Self.record(k: 1)
        #expect(fired(old, Self.record(k: 2)) == ["changed updated"])
        #expect(fired(nil, old) == ["new created"] && fired(old, Self.tombstone(old)) == ["gone deleted"])
        #expect(fired(Self.tombstone(old), Self.record(at: 5_000)) == ["new created"])
        #expect(fired(old, Self.record(at: 5_000)) == ["gone deleted", "new created"])
        #expect(fired(old, Self.record(type: "Other")) == ["gone deleted", "other created"])
        #expect(fired(Self.record(type: "Other"), old) == ["other deleted", "new created"])
    }

    @Test func `R-938: a deleted record whose fields were not read counts as one that matches`() {
        let index = QueryIndex([watching("one", Self.isK(1)), watching("new", .always(true), .creation)])
        let old = Self.record(k: 7)
        let firings = index.firings(
            from: old.withoutFields, to: Self.tombstone(old), in: "Notes", isOldUnread: true)
        #expect(Self.ids(firings) == ["one"])
        #expect(firings.map(\.reason) == [.deleted])
        #expect(index.firings(from: old, to: Self.tombstone(old), in: "Notes").isEmpty)
    }

    @Test func `R-245: strings are compared as queries compare them`() {
        let index = QueryIndex([watching("name", .compare(.field("t"), .equal, .string("ÄHRE")))])
        #expect(Self.ids(index.firings(from: nil, to: Self.record(t: "ähre"), in: "Notes")) == ["name"])
        #expect(index.firings(from: nil, to: Self.record(t: "ahre"), in: "Notes").isEmpty)
    }

    /// All of these on all of those, by the index and by asking each subscription.
    @Test func `R-245: the index finds what asking each subscription finds`() {
        let key = QueryKey.field("k")
        let predicates: [QueryPredicate] = [
            .always(true), .always(false), Self.isK(1), Self.isK(2), .compare(key, .equal, .double(1)),
            .compare(key, .notEqual, .int64(1)), .and([.isPresent(.field("t"), true), Self.isK(1)]),
            .and([Self.isK(1), Self.isK(2)]), .and([]), .not(Self.isK(1)), .isIn(key, [.int64(1), .int64(3)]),
            .compare(.field("t"), .equal, .string("A")), .compare(.field("t"), .equal, .string("a")),
            .compare(.system(.recordID), .equal, .reference(QueryReference(recordName: "r"))),
            .compare(.system(.recordID), .equal, .reference(QueryReference(recordName: "r", zone: .named("Notes")))),
            .compare(.system(.recordID), .equal, .reference(QueryReference(recordName: "r", zone: .named("Other")))),
            .compare(.system(.creatorUserRecordID), .equal, .user(alice)),
            .compare(.system(.creatorUserRecordID), .equal, .user(nil)),
        ]
        let all = predicates.indices.flatMap { index in
            [SubscriptionQuery.Options.changes, .creation, .update, .deletion].enumerated().flatMap { place, options in
                [nil, "Notes", "Other"].map { zone in
                    watching("\(index) \(place) \(zone ?? "")", predicates[index], options, zone: zone)
                }
            }
        }
        let index = QueryIndex(all)
        let versions: [RecordState?] = [
            nil, Self.record(), Self.record(k: 1), Self.record(k: 2, t: "a"), Self.record(k: 1, t: "A"),
            Self.record(t: "b"), Self.record(k: 3), Self.record(type: "Other", k: 1),
        ]
        for old in versions {
            for new in versions {
                guard let last = new ?? old.map(Self.tombstone), old == nil || old?.type == last.type else { continue }
                for zone in ["Notes", "Third"] {
                    let expected = all.compactMap { watching -> QueryIndex.Firing? in
                        Self.asked(watching, old, new, zone)
                    }.sorted { $0.watching.key < $1.watching.key }
                    #expect(index.firings(from: old, to: last, in: zone) == expected)
                }
            }
        }
        #expect(Set(index.slices().joined().map(\.key)) == Set(all.map(\.key)))
    }

    private static func asked(
        _ watching: WatchingSubscription, _ old: RecordState?, _ new: RecordState?, _ zone: String
    ) -> QueryIndex.Firing? {
        let subscription = watching.subscription
        guard let query = subscription.query, subscription.zoneName.map({ $0 == zone }) ?? true else { return nil }
        let evaluator = QueryEvaluator(query.predicate)
        func match(_ record: RecordState?) -> SubscriptionQuery.Match {
            guard let record, record.type == subscription.recordType else { return .absent }
            return evaluator.matches(record, in: zone) ? .matches : .differs
        }
        return query.reason(old: match(old), new: match(new)).map { QueryIndex.Firing(watching: watching, reason: $0) }
    }

    @Test func `I-7: short predicates are evaluated before long ones, and searches last`() throws {
        func watching(_ id: String, _ predicate: QueryPredicate, bytes: Int, zone: String? = nil)
            -> WatchingSubscription
        {
            WatchingSubscription(
                user: UserID(1), container: ContainerID(1),
                subscription: Subscription(
                    id: id, scope: .private, kind: .query, recordType: "Item", zoneName: zone, notificationInfo: [],
                    query: SubscriptionQuery(
                        database: DatabaseID(1), predicate: predicate, options: .changes,
                        predicateBytes: Array(repeating: 0, count: bytes))))
        }
        let index = QueryIndex([
            watching("search", .search("word"), bytes: 10), watching("longest", .not(Self.isK(8)), bytes: 8_000),
            watching("long", .not(Self.isK(9)), bytes: 1_000),
            watching("long equal", .and([Self.isK(1), .not(Self.isK(4))]), bytes: 1_000),
            watching("zone", .always(true), bytes: 10, zone: "Notes"), watching("short", .always(true), bytes: 10),
            watching("equal", Self.isK(1), bytes: 10), watching("other", Self.isK(2), bytes: 10),
        ])
        func order(_ old: RecordState?, _ new: RecordState, isOldUnread: Bool = false) -> [String] {
            var texts = VersionTexts()
            return index.candidates(from: old, to: new, in: "Notes", isOldUnread: isOldUnread, texts: &texts)
                .flatMap { $0.members.map(\.subscription.id) }
        }
        let record = Self.record(k: 1)
        #expect(
            order(nil, record) == ["equal", "short", "zone", "long equal", "long", "longest", "search"])
        #expect(order(nil, Self.record()) == ["short", "zone", "long", "longest", "search"])
        let all = order(record, Self.tombstone(record), isOldUnread: true)
        #expect(all.count == 8 && all.last == "search" && Set(all.prefix(4)) == ["short", "equal", "other", "zone"])
        #expect(order(Self.tombstone(record), Self.tombstone(record)).isEmpty)
    }

    @Test func `R-179: the words of a record are found once, and are those of the searched fields`() throws {
        let index = QueryIndex(
            ["water", "fire", "earth"].map { watching($0, .search($0)) }, fields: { _ in .unknown })
        let (old, new) = (Self.record(t: "Earth and fire"), Self.record(t: "Fire and water"))
        #expect(Self.ids(index.firings(from: old, to: new, in: "Notes")) == ["earth", "fire", "water"])
        var texts = RecordTexts()
        let narrow = QueryFields(["t": .init(.string, isSearchable: false)])
        for _ in 0..<2 {
            #expect(QueryEvaluator(.search("water")).matches(new, in: "Notes", texts: &texts))
            #expect(!QueryEvaluator(.search("earth")).matches(new, in: "Notes", texts: &texts))
            #expect(!QueryEvaluator(.search("water"), fields: narrow).matches(new, in: "Notes", texts: &texts))
        }
    }

    @Test func `I-7: very many subscriptions with one predicate are evaluated in parts`() {
        let all = (0..<2_100).map { watching("s\($0)", of: UserID(Int64($0 + 1))) }
        let index = QueryIndex(all)
        let new = Self.record()
        var texts = VersionTexts()
        let candidates = Array(index.candidates(from: nil, to: new, in: "Notes", texts: &texts))
        #expect(candidates.count == 5)
        let parts = candidates.map {
            QueryIndex.firings(of: $0, from: nil, to: new, in: "Notes", texts: &texts).count
        }
        #expect(parts.allSatisfy { $0 <= 500 } && parts.reduce(0, +) == 2_100)
        #expect(index.firings(from: nil, to: new, in: "Notes").count == 2_100)
        #expect(
            index.slices().count == 5 && index.slices(of: ["Other"]).isEmpty && index.slices(of: ["Item"]).count == 5)
        var grown = QueryIndex(Array(all.prefix(10)))
        let byteCount = grown.byteCount
        grown.add(Array(all.dropFirst(10)))
        #expect(grown.count == 2_100 && byteCount > 0 && grown.byteCount == index.byteCount)
    }
}
