// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkTestSupport

@Suite struct QueryCursorTests {
    static let query = Query(
        recordType: "Item", zoneName: "Notes", predicate: .beginsWith(.field("name"), "a"),
        sorts: ["name", "count", "day", "owner", "place", "none"].map { QuerySort(.field($0)) })

    static func position(_ count: Int = 6) -> QueryPosition {
        let values: [IndexValue?] = [
            .text(.sorting("a\u{0}é")), .number(IndexNumber(Int64.max)), .date(milliseconds: -1),
            .reference(.exact("IS")),
            .distance(.infinity), nil, .user(-3), .number(IndexNumber(Double.nan)),
        ]
        return QueryPosition(values: Array(values.prefix(count)), recordName: "r 1", zoneName: "Notes")
    }

    static func cursor(of viewer: UserID? = nil) -> QueryCursor {
        QueryCursor(store: store, database: database, viewer: viewer, query: query, position: position())
    }

    @Test func `R-189: cursors come back as they were given out`() {
        for (count, viewer) in (0...8).flatMap({ count in [nil, alice].map { (count, $0) } }) {
            let cursor = QueryCursor(
                store: store, database: database, viewer: viewer, query: Self.query, position: Self.position(count))
            #expect(QueryCursor(bytes: cursor.bytes) == cursor)
        }
    }

    private func read(
        _ bytes: [UInt8], query: Query = Self.query, database: DatabaseID = database, viewer: UserID? = nil
    ) -> Result<QueryCursor?, FailureReason> {
        QueryCursor.opened(bytes, for: query, in: database, viewer: viewer)
    }

    @Test func `R-189, R-200: in the shared database a cursor is good for its own user alone`() {
        let viewers = [nil, alice, bob]
        for (maker, reader) in viewers.flatMap({ maker in viewers.map { (maker, $0) } }) {
            let cursor = Self.cursor(of: maker)
            let expected: Result<QueryCursor?, FailureReason> =
                maker == reader ? .success(cursor) : .failure(.cursorInvalid)
            #expect(read(cursor.bytes, viewer: reader) == expected)
        }
    }

    @Test func `R-189: a cursor belongs to its query, zone and database`() {
        let bytes = Self.cursor().bytes
        #expect(read(bytes) == .success(Self.cursor()))
        #expect(read([]) == .success(nil))
        #expect(read(bytes, database: DatabaseID(8)) == .failure(.cursorInvalid))
        let changes: [(inout Query) -> Void] = [
            { $0.recordType = "Other" }, { $0.zoneName = nil }, { $0.zoneName = "" },
            { $0.predicate = .beginsWith(.field("name"), "b") }, { $0.sorts.removeLast() },
            { $0.sorts[0].isAscending = false }, { $0.sorts[0].key = .system(.recordID) },
        ]
        for change in changes {
            var other = Self.query
            change(&other)
            #expect(read(bytes, query: other) == .failure(.cursorInvalid), "\(other)")
        }
        let token = ChangeToken.database(store: store, viewer: database, position: FeedPosition(number: 1))
        #expect(read(token.bytes) == .failure(.cursorInvalid))
    }

    @Test func `R-189, I-6: a cursor that was cut or garbled is refused`() {
        for viewer in [nil, alice] {
            let bytes = Self.cursor(of: viewer).bytes
            for count in 1..<bytes.count {
                #expect(read(Array(bytes.prefix(count)), viewer: viewer) == .failure(.cursorInvalid))
            }
            for index in bytes.indices {
                for bit in 0..<8 {
                    var wrong = bytes
                    wrong[index] ^= 1 << UInt8(bit)
                    #expect(read(wrong, viewer: viewer) == .failure(.cursorInvalid))
                }
            }
        }
        var random = SeededRandom()
        for count in 1..<300 { #expect(read(random.bytes(count: count)) == .failure(.cursorInvalid)) }
    }

    @Test func `R-189: different predicates have different digests`() {
        let predicates = QueryCheckTests.predicates.map(\.0) + QueryEvaluatorTests.rows.map(\.0)
        // -0 … nan are told apart by their bits, so texts are: those stand for the trees.
        let digests = Dictionary(grouping: predicates) { Query(recordType: "T", zoneName: nil, predicate: $0).digest }
        for group in digests.values { #expect(Set(group.map { "\($0)" }).count == 1, "\(group)") }
    }
}
