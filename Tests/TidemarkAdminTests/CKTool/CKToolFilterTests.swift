// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkDomain
import TidemarkFields

@testable import TidemarkAdmin

@Suite struct CKToolFilterTests {
    private static func filter(_ text: String) throws -> CKToolFilter {
        try CKToolFilter(parsing: text, CKToolValueReader(timeZone: .gmt))
    }

    private static func predicate(_ text: String, _ users: [String: UserID] = [:]) throws -> QueryPredicate {
        try filter(text).predicate(users: users)
    }

    private static let key = QueryKey.field("n")

    /// Both names of each operator, and what it asks the store for.
    private static let comparisons: [(String, String, QueryComparison)] = [
        ("==", "EQUALS", .equal), ("!=", "NOT_EQUALS", .notEqual), ("<", "LESS_THAN", .less),
        ("<=", "LESS_THAN_OR_EQUALS", .lessOrEqual), (">", "GREATER_THAN", .greater),
        (">=", "GREATER_THAN_OR_EQUALS", .greaterOrEqual),
    ]

    @Test func `R-894: each comparison has a sign and a name`() throws {
        for (sign, name, comparison) in Self.comparisons {
            let predicate = QueryPredicate.compare(Self.key, comparison, .double(4.6))
            #expect(try Self.predicate("n \(sign) 4.60") == predicate)
            #expect(try Self.predicate("n \(name) 4.60") == predicate)
        }
        #expect(CKToolFilter.Operator.allCases.count == Self.comparisons.count + 5)
    }

    @Test func `R-894: a filter compares with its value, whatever spaces are in it`() throws {
        let rows: [(String, QueryPredicate)] = [
            ("n == Great Expectations", .compare(Self.key, .equal, .string("Great Expectations"))),
            ("  n  ==  a  b ", .compare(Self.key, .equal, .string("a  b"))),
            (#"n == " a ""#, .compare(Self.key, .equal, .string(" a "))),
            ("n > 2021-01-01", .compare(Self.key, .greater, .date(milliseconds: 1_609_459_200_000))),
            ("n == == ==", .compare(Self.key, .equal, .string("== =="))),
            (
                "n == referenceType:7F",
                .compare(Self.key, .equal, .reference(QueryReference(recordName: "7F")))
            ),
            ("n LIST_CONTAINS_ANY a,b", .containsAny(Self.key, [.string("a"), .string("b")])),
            ("n LIST_NOT_CONTAINS_ANY 1", .not(.containsAny(Self.key, [.int64(1)]))),
            ("n CONTAINS_ALL_TOKENS 42 ships", .search("42 ships")),
            (#"n CONTAINS_ALL_TOKENS "a b""#, .search("a b")),
            ("n CONTAINS_ANY_TOKENS a b", .isPresent(Self.key, true)),
            (
                "n NEAR 64.1,-21.9,5000",
                .isNear(Self.key, QueryLocation(latitude: 64.1, longitude: -21.9), metres: 5_000, isInclusive: true)
            ),
        ]
        for (text, predicate) in rows { #expect(try Self.predicate(text) == predicate, "\(text)") }
    }

    /// Scripts that others have published give dates to Apple's tool so.
    @Test func `R-894: a whole number is compared with a date as its milliseconds`() throws {
        let type = RecordTypeSchema(fields: [
            "built": FieldSchema(SchemaFieldType(.date)), "trips": FieldSchema(.list(.date)),
            "crew": FieldSchema(SchemaFieldType(.int64)),
        ])
        let date = QueryValue.date(milliseconds: 1_609_459_200_000)
        let built = try Self.filter("built >= 1609459200000")
        #expect(built.needsFieldType)
        #expect(try built.predicate(users: [:], type: type) == .compare(.field("built"), .greaterOrEqual, date))
        #expect(
            try Self.filter("trips LIST_CONTAINS_ANY 1609459200000").predicate(users: [:], type: type)
                == .containsAny(.field("trips"), [date]))
        #expect(
            try Self.filter("crew == 12").predicate(users: [:], type: type)
                == .compare(.field("crew"), .equal, .int64(12)))
        // Nobody needs a schema for system fields, or to compare other values.
        let created = try Self.filter("___createTime < 1609459200000")
        #expect(!created.needsFieldType)
        #expect(try created.predicate(users: [:]) == .compare(.system(.creationDate), .less, date))
        #expect(try !Self.filter("built < 2021-01-01").needsFieldType && !Self.filter("n == a").needsFieldType)
    }

    @Test func `R-894: a place without a distance sorts by distance`() throws {
        let place = QueryLocation(latitude: 64.1, longitude: -21.9)
        let filter = try Self.filter("n NEAR locationType:64.1, -21.9")
        #expect(filter.sort == QuerySort(Self.key, origin: place))
        guard case .isNear(_, place, let metres, true) = try filter.predicate(users: [:]) else {
            Issue.record("\(filter)")
            return
        }
        // Everywhere on Earth.
        #expect(metres > 20_040_000)
        #expect(try Self.filter("n NEAR 64.1,-21.9,5000").sort == nil)
        #expect(try Self.filter("n == 1").sort == nil)
    }

    @Test func `R-894: fields of the system have the names of the schema language and of CloudKit`() throws {
        let name = QueryValue.reference(QueryReference(recordName: "7F"))
        for key in ["___recordID", "recordName", "recordID"] {
            #expect(try Self.predicate("\(key) == 7F") == .compare(.system(.recordID), .equal, name))
        }
        #expect(try Self.predicate("___parent == 7F") == .compare(.system(.parent), .equal, name))
        for key in ["___createTime", "creationDate"] {
            #expect(
                try Self.predicate("\(key) > 2021-01-01")
                    == .compare(.system(.creationDate), .greater, .date(milliseconds: 1_609_459_200_000)))
        }
        let filter = try Self.filter("___createdBy == _0a")
        #expect(filter.userNames == ["_0a"])
        #expect(
            try filter.predicate(users: ["_0a": UserID(7)])
                == .compare(.system(.creatorUserRecordID), .equal, .user(UserID(7))))
        #expect(try filter.predicate(users: [:]) == .compare(.system(.creatorUserRecordID), .equal, .user(nil)))
        #expect(try Self.filter("n == _0a").userNames.isEmpty)
        // No query can name the tag: it is a field like others, which no record has.
        #expect(try Self.filter("___etag == x").key == .field("___etag"))
    }

    @Test(arguments: [
        "", "n", "n ==", "n == ", "n=1", "n = 1", "n LIKE a", "n == locationType:1,2", "n == bytesType:AQI=",
        "n == stringListType:a,b", "n NEAR here", "n NEAR 1", "n NEAR 1,2,3,4", "n NEAR 91,0", "n NEAR 1,2,-1",
        "n NEAR 1,2,nan", "n < int64Type:x", "n equals 1",
        "n LIST_CONTAINS_ANY locationType:1,2",
    ])
    func `R-894: any other filter is refused`(_ text: String) {
        #expect(throws: InputMistake.self) { try Self.predicate(text) }
    }

    @Test func `R-894: a full-text filter looks into its own field alone`() throws {
        let record = try Self.record([
            Field("n", .string("The quick Brown fox")), Field("other", .string("dog")),
            Field("list", .strings(["cat", "mouse"])), Field("number", .int64(7)),
        ])
        let rows: [(String, Bool)] = [
            ("n CONTAINS_ALL_TOKENS brown quick", true), ("n CONTAINS_ALL_TOKENS quick dog", false),
            ("n CONTAINS_ANY_TOKENS dog FOX", true), ("n CONTAINS_ANY_TOKENS dog cat", false),
            ("list CONTAINS_ALL_TOKENS mouse cat", true), ("list CONTAINS_ANY_TOKENS dog", false),
            ("number CONTAINS_ANY_TOKENS 7", false), ("missing CONTAINS_ANY_TOKENS fox", false),
            // Words that say nothing find nothing, as in a search.
            ("n CONTAINS_ALL_TOKENS the", false), ("n CONTAINS_ANY_TOKENS the", false), ("n == nothing", true),
        ]
        for (text, isKept) in rows { #expect(try Self.filter(text).keeps(record) == isKept, "\(text)") }
    }

    private static func record(_ fields: [Field]) throws -> RecordState {
        RecordState(
            name: "r", type: "T", fields: try FieldMap(fields), changeNumber: 1, isDeleted: false, parent: nil,
            createdAt: Timestamp(milliseconds: 0), createdBy: UserID(1), createdByDevice: .nobody,
            modifiedAt: Timestamp(milliseconds: 0), modifiedBy: UserID(1), batchEnd: 1)
    }

    @Test func `R-894: an order names a field and a direction`() throws {
        #expect(try CKToolSort.sort(parsing: "n") == QuerySort(Self.key))
        #expect(try CKToolSort.sort(parsing: "n ASC") == QuerySort(Self.key))
        #expect(try CKToolSort.sort(parsing: "n desc") == QuerySort(Self.key, isAscending: false))
        #expect(
            try CKToolSort.sort(parsing: "___modTime DESC")
                == QuerySort(.system(.modificationDate), isAscending: false))
        for text in ["", "n UP", "n ASC DESC"] {
            #expect(throws: InputMistake.self) { try CKToolSort.sort(parsing: text) }
        }
    }
}
