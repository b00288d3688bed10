// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkFields

@Suite struct QueryEvaluatorTests {
    static func record(_ fields: [Field], name: String = "r", createdAt: Timestamp = 1_000) -> RecordState {
        do {
            return RecordState(
                name: name, type: "Item", fields: try FieldMap(fields), changeNumber: 1, isDeleted: false,
                parent: "mother", createdAt: createdAt, createdBy: alice, createdByDevice: phone, modifiedAt: 2_000,
                modifiedBy: bob, batchEnd: 1)
        } catch {
            preconditionFailure("\(error)")
        }
    }

    static let place = FieldLocation(
        latitude: 64.13, longitude: -21.94, altitude: 0, horizontalAccuracy: 0, verticalAccuracy: 0, course: 0,
        speed: 0,
        timestampMilliseconds: 0)
    static let sample = record([
        Field("name", .string("Reykjavík")), Field("count", .int64(7)), Field("price", .double(2.5)),
        Field("day", .date(milliseconds: -5)), Field("data", .bytes([1])),
        Field("owner", .reference(FieldReference(recordName: "IS", action: .deleteSelf))),
        Field("place", .location(place)),
        Field("tags", .strings(["Red", "blue"])), Field("empty", .emptyList), Field("nan", .double(.nan)),
        Field("secret", .string("hush"), isEncrypted: true), Field("text", .string("The old harbour")),
    ])

    static func key(_ name: String) -> QueryKey { .field(name) }
    static func to(_ name: String, _ zone: QueryReference.Zone = .holder) -> QueryValue {
        .reference(QueryReference(recordName: name, zone: zone))
    }
    static func near(_ metres: Double) -> QueryPredicate {
        .isNear(key("place"), QueryLocation(latitude: 64.14, longitude: -21.94), metres: metres, isInclusive: false)
    }

    static let rows: [(QueryPredicate, Bool)] = [
        (.always(true), true), (.always(false), false),
        (.compare(key("name"), .equal, .string("reykjaVÍK")), true),
        (.compare(key("name"), .equal, .string("Reykjavik")), false),
        (.compare(key("name"), .notEqual, .string("REYKJAVÍK")), false),
        (.compare(key("name"), .less, .string("a")), true), (.compare(key("name"), .less, .string("R")), false),
        (.beginsWith(key("name"), "Rey"), true), (.beginsWith(key("name"), "rey"), false),
        (.beginsWith(key("name"), ""), true), (.beginsWith(key("count"), ""), false),
        (.compare(key("count"), .equal, .double(7)), true), (.compare(key("count"), .greater, .double(6.9)), true),
        (.compare(key("price"), .lessOrEqual, .int64(2)), false), (.compare(key("count"), .equal, .string("7")), false),
        (.compare(key("count"), .notEqual, .string("7")), true),
        (.between(key("count"), .int64(7), .int64(7)), true), (.between(key("count"), .int64(8), .int64(6)), false),
        (.between(key("name"), .string("R"), .string("S")), true),
        (.compare(key("day"), .less, .date(milliseconds: 0)), true), (.compare(key("day"), .less, .int64(0)), false),
        (.compare(key("nan"), .equal, .double(.nan)), true), (.compare(key("nan"), .greater, .double(.infinity)), true),
        (.compare(key("none"), .equal, .int64(1)), false), (.compare(key("none"), .notEqual, .int64(1)), true),
        (.compare(key("none"), .less, .int64(1)), false),
        (.isPresent(key("none"), true), false), (.isPresent(key("none"), false), true),
        (.isPresent(key("empty"), true), true), (.isPresent(key("data"), true), true),
        (.isPresent(key("secret"), true), false), (.compare(key("secret"), .equal, .string("hush")), false),
        (.isIn(key("name"), [.string("x"), .string("REYKJAVÍK")]), true), (.isIn(key("name"), []), false),
        (.contains(key("tags"), .string("red")), true), (.contains(key("tags"), .string("re")), false),
        (.contains(key("empty"), .string("red")), false), (.contains(key("name"), .string("Reykjavík")), false),
        (.containsAny(key("tags"), [.int64(1), .string("BLUE")]), true), (.containsAny(key("tags"), []), false),
        (.compare(key("owner"), .equal, to("IS")), true),
        (.compare(key("owner"), .equal, to("IS", .named("Notes"))), true),
        (.compare(key("owner"), .equal, to("IS", .named("Other"))), false),
        (.compare(key("owner"), .notEqual, to("IS", .elsewhere)), true),
        (.compare(key("owner"), .equal, .string("IS")), false),
        (.compare(.system(.recordID), .equal, to("r")), true), (.isIn(.system(.recordID), [to("q"), to("r")]), true),
        (.compare(.system(.recordID), .equal, to("r", .named("Other"))), false),
        (.compare(.system(.creationDate), .equal, .date(milliseconds: 1_000)), true),
        (.compare(.system(.modificationDate), .greater, .date(milliseconds: 1_000)), true),
        (.compare(.system(.creatorUserRecordID), .equal, .user(alice)), true),
        (.compare(.system(.lastModifiedUserRecordID), .equal, .user(alice)), false),
        (.compare(.system(.creatorUserRecordID), .equal, .user(nil)), false),
        (.compare(.system(.creatorUserRecordID), .notEqual, .user(nil)), true),
        (.compare(.system(.parent), .equal, to("mother")), true), (.isPresent(.system(.parent), true), true),
        (.isPresent(.system(.share), true), false),
        (near(1_112), true), (near(1_111), false), (near(-1), false), (near(.infinity), true),
        (.search("HARBOUR old"), true), (.search("reykjavik harbour the"), true), (.search("harbours"), false),
        (.search("red"), true), (.search("hush"), false), (.search("the"), false), (.search(""), false),
        (.and([]), true), (.and([.always(true), .always(false)]), false), (.not(.always(false)), true),
    ]

    @Test func `R-176 … R-183: what is true of a record`() {
        for (predicate, expected) in Self.rows {
            #expect(QueryEvaluator(predicate).matches(Self.sample, in: "Notes") == expected, "\(predicate)")
        }
    }

    @Test func `R-179: only searchable fields are searched`() {
        let fields = QueryFields(["text": .init(.string, isSearchable: false)])
        #expect(!QueryEvaluator(.search("harbour"), fields: fields).matches(Self.sample, in: "Notes"))
        #expect(QueryEvaluator(.search("reykjavík"), fields: fields).matches(Self.sample, in: "Notes"))
    }

    // MARK: Order

    private func names(_ records: [RecordState], by sorts: [QuerySort]) -> String {
        let order = QueryOrder(Query(recordType: "Item", zoneName: nil, sorts: sorts))
        let positions = records.map { order.position(of: $0, in: "Z") }
        return positions.sorted(by: order.precedes).map(\.recordName).joined(separator: " ")
    }

    @Test func `R-187: sorts in order, ties by record name, what is missing first`() {
        let records = [
            Self.record([Field("n", .int64(2)), Field("s", .string("b"))], name: "d"),
            Self.record([Field("n", .double(1.5)), Field("s", .string("B"))], name: "c"),
            Self.record([Field("n", .int64(2)), Field("s", .string("a"))], name: "b", createdAt: 500),
            Self.record([Field("s", .string("a"))], name: "a"),
        ]
        #expect(names(records, by: [QuerySort(.field("n"))]) == "a c b d")
        #expect(names(records, by: [QuerySort(.field("n"), isAscending: false)]) == "b d c a")
        #expect(names(records, by: [QuerySort(.field("s")), QuerySort(.field("n"), isAscending: false)]) == "c b a d")
        #expect(names(records, by: []) == "b a c d")
        #expect(names(records, by: [QuerySort(.system(.recordID), isAscending: false)]) == "d c b a")
    }

    @Test func `R-187: by distance, what has no place last`() {
        func at(_ latitude: Double?, _ name: String) -> RecordState {
            var place = Self.place
            place.latitude = latitude ?? 0
            return Self.record(latitude == nil ? [] : [Field("place", .location(place))], name: name)
        }
        let records = [at(10, "far"), at(nil, "none"), at(64, "near"), at(91, "nowhere")]
        let origin = QueryLocation(latitude: 64, longitude: -21)
        #expect(names(records, by: [QuerySort(.field("place"), origin: origin)]) == "near far none nowhere")
        let farthest = QuerySort(.field("place"), isAscending: false, origin: origin)
        #expect(names(records, by: [farthest]) == "none nowhere far near")
    }

    @Test func `R-187: the last tie is broken by the zone`() {
        let order = QueryOrder(Query(recordType: "Item", zoneName: nil))
        let (first, second) = (order.position(of: Self.sample, in: "A"), order.position(of: Self.sample, in: "B"))
        #expect(order.precedes(first, second) && !order.precedes(second, first) && !order.precedes(first, first))
    }
}
