// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkFields

@Suite struct QueryCheckTests {
    static let fields = QueryFields(
        [
            "name": .init(.string), "count": .init(.int64), "price": .init(.double), "day": .init(.date),
            "data": .init(.bytes), "owner": .init(.reference), "place": .init(.location), "tags": .init(.stringList),
            "owners": .init(.referenceList), "none": .init(.emptyList), "secret": .init(.string, isEncrypted: true),
            "hidden": .init(.string, isQueryable: false, isSortable: false, isSearchable: false),
        ], allowsOthers: false)

    static let here = QueryLocation(latitude: 64, longitude: -22)
    static let reference = QueryValue.reference(QueryReference(recordName: "x"))

    static func key(_ name: String) -> QueryKey { .field(name) }

    /// R-176 … R-184: what may be asked of which field.
    static let predicates: [(QueryPredicate, FailureReason?)] = [
        (.always(true), nil),
        (.compare(key("name"), .equal, .string("a")), nil),
        (.compare(key("name"), .greater, .string("a")), nil),
        (.compare(key("name"), .equal, .int64(1)), .valueKindWrong),
        (.compare(key("count"), .less, .double(1.5)), nil),
        (.compare(key("price"), .less, .int64(1)), nil),
        (.compare(key("day"), .less, .date(milliseconds: 1)), nil),
        (.compare(key("day"), .less, .int64(1)), .valueKindWrong),
        (.compare(key("owner"), .notEqual, reference), nil),
        (.compare(key("owner"), .less, reference), .operatorInvalid),
        (.compare(key("owner"), .equal, .string("x")), .valueKindWrong),
        (.compare(key("owner"), .equal, .user(nil)), .valueKindWrong),
        (.compare(key("data"), .equal, .string("x")), .fieldNotComparable),
        (.isPresent(key("data"), true), .fieldNotComparable),
        (.isPresent(key("place"), true), nil),
        (.isPresent(key("tags"), false), nil),
        (.compare(key("secret"), .equal, .string("x")), .fieldEncrypted),
        (.compare(key("hidden"), .equal, .string("x")), .fieldNotQueryable),
        (.compare(key("nowhere"), .equal, .string("x")), .queryFieldUnknown),
        (.compare(key("_bad"), .equal, .string("x")), .queryFieldUnknown),
        (.compare(key("tags"), .equal, .string("x")), .operatorInvalid),
        (.contains(key("tags"), .string("x")), nil),
        (.contains(key("none"), .string("x")), nil),
        (.contains(key("name"), .string("x")), .operatorInvalid),
        (.contains(key("tags"), .int64(1)), .valueKindWrong),
        (.containsAny(key("owners"), [reference, reference]), nil),
        (.containsAny(key("owners"), []), nil),
        (.isIn(key("name"), [.string("a"), .string("b")]), nil),
        (.isIn(key("name"), [.string("a"), .int64(1)]), .valueKindWrong),
        (.isIn(key("name"), []), nil),
        (.isIn(key("tags"), [.string("a")]), .operatorInvalid),
        (.beginsWith(key("name"), "a"), nil),
        (.beginsWith(key("count"), "a"), .valueKindWrong),
        (.between(key("count"), .int64(1), .double(2)), nil),
        (.between(key("count"), .int64(1), .string("b")), .operatorInvalid),
        (.between(key("owner"), reference, reference), .operatorInvalid),
        (.isNear(key("place"), here, metres: 10, isInclusive: false), nil),
        (.isNear(key("name"), here, metres: 10, isInclusive: false), .valueKindWrong),
        (.isNear(key("place"), here, metres: .nan, isInclusive: false), .operatorInvalid),
        (.isNear(key("place"), .init(latitude: 91, longitude: 0), metres: 1, isInclusive: true), .operatorInvalid),
        (.search("words"), nil),
        (.compare(.system(.recordID), .equal, reference), nil),
        (.compare(.system(.recordID), .equal, .string("x")), .valueKindWrong),
        (.compare(.system(.recordID), .less, reference), .operatorInvalid),
        (.compare(.system(.creationDate), .less, .date(milliseconds: 1)), nil),
        (.compare(.system(.modificationDate), .less, .int64(1)), .valueKindWrong),
        (.compare(.system(.creatorUserRecordID), .equal, .user(UserID(1))), nil),
        (.compare(.system(.creatorUserRecordID), .less, .user(UserID(1))), .operatorInvalid),
        (.isIn(.system(.parent), [reference]), nil),
        (.contains(.system(.parent), reference), .operatorInvalid),
        (.isPresent(.system(.share), false), nil),
        (.not(.compare(key("name"), .equal, .string("a"))), nil),
        (.not(.not(.isIn(key("name"), [.string("a")]))), nil),
        (.not(.and([])), .negationInvalid),
        (.not(.search("a")), .negationInvalid),
        (.not(.between(key("count"), .int64(1), .int64(2))), .negationInvalid),
        (.not(.isNear(key("place"), here, metres: 1, isInclusive: true)), .negationInvalid),
        (.not(.not(.search("a"))), .negationInvalid),
        (.and([.always(true), .compare(key("name"), .equal, .int64(1))]), .valueKindWrong),
    ]

    private func refusal(
        _ predicate: QueryPredicate = .always(true), type: String = "Item", zone: String? = "Notes",
        sorts: [QuerySort] = [], scope: DatabaseScope = .private, fields: QueryFields = Self.fields
    ) -> FailureReason? {
        Query(recordType: type, zoneName: zone, predicate: predicate, sorts: sorts)
            .refusal(fields: fields, scope: scope, limits: Limits())?.reason
    }

    @Test func `R-176 … R-184: predicates`() {
        for (predicate, reason) in Self.predicates { #expect(refusal(predicate) == reason, "\(predicate)") }
    }

    @Test func `without a schema only what the predicate itself says is checked`() {
        let predicate = QueryPredicate.compare(Self.key("any"), .equal, .int64(1))
        #expect(refusal(predicate, fields: .unknown) == nil)
        #expect(refusal(.not(.search("x")), fields: .unknown) == .negationInvalid)
        #expect(refusal(.compare(Self.key("a.b"), .equal, .int64(1)), fields: .unknown) == .queryFieldUnknown)
    }

    @Test func `R-173, R-175, R-041, R-020: type and zone`() {
        #expect(refusal(type: "Users") == .recordTypeNotQueryable)
        #expect(refusal(type: "1x") == .recordTypeInvalid)
        #expect(refusal(type: "cloudkit.share") == nil)
        #expect(refusal(zone: "_x") == .zoneNameInvalid)
    }

    @Test func `R-173, R-186: queries for CKShare records may use system fields, whatever the schema says`() throws {
        let type = try #require(RecordTypeSchema.systemType(named: Share.recordType))
        #expect(RecordTypeSchema.systemType(named: "Item") == nil)
        for isFrozen in [false, true] {
            let fields = QueryFields(type, isFrozen: isFrozen)
            func verdict(_ predicate: QueryPredicate, _ sorts: [QuerySort] = []) -> FailureReason? {
                refusal(predicate, type: Share.recordType, sorts: sorts, fields: fields)
            }
            #expect(verdict(.always(true)) == nil)
            for key in QuerySystemKey.allCases {
                #expect(verdict(.isPresent(.system(key), true), [QuerySort(.system(key))]) == nil, "\(key)")
            }
            #expect(verdict(.isPresent(.field("title"), true)) == .queryFieldUnknown)
            #expect(verdict(.always(true), [QuerySort(.field("title"))]) == .queryFieldUnknown)
        }
    }

    /// Wherever a reference may be in a predicate.
    @Test(arguments: ["a\0b", "", "_x", "\u{7F}", String(repeating: "x", count: 256)])
    func `R-761: a reference to a zone with an impossible name is refused`(name: String) {
        let value = QueryValue.reference(QueryReference(recordName: "r", zone: .named(name)))
        let good = QueryValue.reference(QueryReference(recordName: "r\0", zone: .named("notes")))
        let key = QueryKey.field("owner")
        func predicates(_ value: QueryValue) -> [QueryPredicate] {
            [
                .compare(key, .equal, value), .compare(.system(.recordID), .notEqual, value),
                .isIn(key, [Self.reference, value]), .contains(.field("owners"), value),
                .containsAny(.field("owners"), [value]), .not(.compare(key, .equal, value)),
                .and([.always(true), .not(.isIn(.system(.parent), [value]))]),
            ]
        }
        for predicate in predicates(value) { #expect(refusal(predicate) == .zoneNameInvalid, "\(predicate)") }
        for predicate in predicates(good) { #expect(refusal(predicate) == nil, "\(predicate)") }
    }

    @Test func `R-173: a query names a zone or searches all`() {
        #expect(refusal(zone: "_defaultZone") == nil)
        #expect(refusal(zone: nil) == nil)
        #expect(refusal(zone: nil, scope: .public) == nil)
        #expect(refusal(zone: nil, scope: .shared) == .zoneRequired)
    }

    @Test func `R-187: sorts`() {
        let rows: [(QuerySort, FailureReason?)] = [
            (QuerySort(.field("name")), nil), (QuerySort(.field("day"), isAscending: false), nil),
            (QuerySort(.field("owner")), nil), (QuerySort(.field("place")), .sortInvalid),
            (QuerySort(.field("place"), origin: Self.here), nil),
            (QuerySort(.field("name"), origin: Self.here), .sortInvalid),
            (QuerySort(.field("place"), origin: .init(latitude: .nan, longitude: 0)), .sortInvalid),
            (QuerySort(.field("tags")), .sortInvalid), (QuerySort(.field("data")), .sortInvalid),
            (QuerySort(.field("hidden")), .fieldNotSortable), (QuerySort(.field("secret")), .fieldEncrypted),
            (QuerySort(.field("nowhere")), .queryFieldUnknown), (QuerySort(.system(.creatorUserRecordID)), nil),
            (QuerySort(.system(.creationDate), origin: Self.here), .sortInvalid),
        ]
        for (sort, reason) in rows { #expect(refusal(sorts: [sort]) == reason, "\(sort)") }
        #expect(refusal(sorts: Array(repeating: QuerySort(.field("name")), count: 17)) == .queryTooLarge)
    }

    @Test func `I-7: depth, nodes and bytes are bounded`() {
        func nested(_ depth: Int) -> QueryPredicate {
            (1..<depth).reduce(.always(true)) { predicate, _ in .and([predicate]) }
        }
        #expect(refusal(nested(32)) == nil)
        #expect(refusal(nested(33)) == .queryTooLarge)
        #expect(refusal(nested(10_000)) == .queryTooLarge)
        #expect(refusal(.isIn(Self.key("count"), (0..<1_499).map(QueryValue.int64))) == nil)
        #expect(refusal(.isIn(Self.key("count"), (0..<1_500).map(QueryValue.int64))) == .queryTooLarge)
        let names = (0..<1_000).map { QueryValue.string("short string \($0)") }
        let inList = QueryPredicate.isIn(Self.key("name"), names)
        #expect(refusal(.and([inList, .compare(Self.key("count"), .less, .int64(1))])) == nil)
    }

    @Test func `I-7: a query that is too large says which limit it passes, and by how much`() {
        func text(_ predicate: QueryPredicate, sorts: Int = 0) -> String? {
            Query(
                recordType: "Item", zoneName: "n", predicate: predicate,
                sorts: Array(repeating: QuerySort(.field("name")), count: sorts)
            ).refusal(fields: Self.fields, scope: .private, limits: Limits())?.text
        }
        func limit(_ words: String) -> String { "\(FailureReason.queryTooLarge.text) The limit is \(words)." }
        let numbers = QueryPredicate.isIn(Self.key("count"), (0..<1_600).map(QueryValue.int64))
        #expect(text(numbers) == limit("1500 conditions and constants together, and this has 1601"))
        let deep = (1..<40).reduce(QueryPredicate.always(true)) { predicate, _ in .and([predicate]) }
        #expect(text(deep) == limit("32 levels of conditions, and this has 40"))
        let long = QueryPredicate.beginsWith(Self.key("name"), String(repeating: "x", count: 70_000))
        #expect(text(long) == limit("65536 bytes of strings and other constants, and this has 70000"))
        #expect(text(.always(true), sorts: 17) == limit("16 sort descriptors, and this has 17"))
        #expect(refusal(.beginsWith(Self.key("name"), String(repeating: "x", count: 65_536))) == nil)
        #expect(refusal(.search(String(repeating: "x", count: 65_537))) == .queryTooLarge)
    }

    @Test func `R-184: a field that no record of the type has is unknown, and the nearest one is told`() {
        func refused(_ name: String) -> QueryRefusal? {
            Query(recordType: "Item", zoneName: nil, predicate: .isPresent(.field(name), true))
                .refusal(fields: Self.fields, scope: .private, limits: Limits())
        }
        #expect(refused("nmae") == QueryRefusal(.queryFieldUnknown, subject: "nmae", nearest: "name"))
        #expect(refused("creationdate")?.nearest == "creationDate")
        #expect(refused("nmae")?.text.hasPrefix("Unknown field 'nmae'. Did you mean 'name'? ") == true)
        #expect(refused("nowhere")?.text.hasPrefix("Unknown field 'nowhere'. Check its spelling") == true)
        var type = RecordTypeSchema(systemMarks: [.recordID: .queryable])
        type.fields["name"] = FieldSchema(SchemaFieldType(.string))
        for isFrozen in [true, false] {
            let query = Query(recordType: "Item", zoneName: nil, sorts: [QuerySort(.field("nmae"))])
            let refusal = query.refusal(
                fields: QueryFields(type, isFrozen: isFrozen), scope: .private, limits: Limits())
            #expect(refusal?.reason == .queryFieldUnknown && refusal?.nearest == "name")
        }
    }

    @Test func `R-174, R-186: texts name what is meant`() {
        #expect(QueryRefusal(.recordTypeUnknown, subject: "X").text.hasPrefix("Did not find record type: X."))
        #expect(QueryRefusal(.fieldNotQueryable, subject: "x").text.hasPrefix("Field 'x' is not marked queryable."))
        #expect(QueryRefusal(.operatorInvalid, subject: "x").text.hasSuffix("(At: x.)"))
        #expect(
            QueryRefusal(.fieldEncrypted, subject: "x").text.hasPrefix("Field 'x' is encrypted: it cannot be queried"))
        #expect(QueryRefusal(.cursorInvalid).text == FailureReason.cursorInvalid.text)
        let unqueryable = QueryFields([:], unqueryable: [.recordID])
        let refused = Query(recordType: "Item", zoneName: nil)
            .refusal(fields: unqueryable, scope: .public, limits: Limits())
        #expect(refused == QueryRefusal(.fieldNotQueryable, subject: "recordName"))
    }
}
