// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkBytes
import TidemarkDomain
import TidemarkFields
import TidemarkWire

@testable import TidemarkTranslation

@Suite struct QueryTranslationTests {
    private func read(_ change: (inout WireQuery) -> Void) throws(Refusal) -> Query {
        var wire = WireQuery()
        wire.recordType = "Note"
        change(&wire)
        return try Query(wire, by: Examples.viewpoint, limits: Examples.limits)
    }

    private func refusal(_ change: (inout WireQuery) -> Void) -> FailureReason? {
        do throws(Refusal) {
            _ = try read(change)
            return nil
        } catch {
            return error.code
        }
    }

    private func comparison(_ key: String, _ value: WireQueryValue, _ sign: WireComparisonOperator = .equal)
        -> WirePredicate
    {
        var predicate = WirePredicate()
        predicate.compare.key = key
        predicate.compare.operator = sign
        predicate.compare.value = value
        return predicate
    }

    private func reference(_ name: String, zone: WireZoneID? = nil) -> WireQueryValue {
        var value = WireQueryValue()
        value.reference.recordName = name
        if let zone { value.reference.zone = zone }
        return value
    }

    @Test func `R-173: without predicate and zone: everything, everywhere`() throws {
        #expect(try read { _ in } == Query(recordType: "Note", zoneName: nil))
        #expect(try read { $0.zone = Examples.zoneID("n", owner: "__defaultOwner__") }.zoneName == "n")
        #expect(refusal { $0.zone = Examples.zoneID("n", owner: "_other") } == .zoneNotFound)
    }

    @Test func `R-182, R-183: references have zones, users are the caller or strangers`() throws {
        let rows: [(String, WireQueryValue, QueryValue)] = [
            ("owner", reference("x"), .reference(QueryReference(recordName: "x"))),
            (
                "owner", reference("x", zone: Examples.zoneID("n")),
                .reference(QueryReference(recordName: "x", zone: .named("n")))
            ),
            (
                "owner", reference("x", zone: Examples.zoneID("n", owner: "_other")),
                .reference(QueryReference(recordName: "x", zone: .elsewhere))
            ),
            ("creatorUserRecordID", reference("__defaultOwner__"), .user(Examples.viewpoint.user)),
            ("creatorUserRecordID", reference(Examples.viewpoint.userRecordName), .user(Examples.viewpoint.user)),
            ("lastModifiedUserRecordID", reference("_other"), .user(nil)),
            ("lastModifiedUserRecordID", reference(""), .user(nil)),
        ]
        for (key, value, expected) in rows {
            let query = try read { $0.predicate = comparison(key, value) }
            #expect(query.predicate == .compare(QueryKey(named: key), .equal, expected))
        }
        #expect(QueryKey(named: "recordID") == .system(.recordID) && QueryKey(named: "recordid") == .field("recordid"))
    }

    @Test func `I-6: empty nodes and values are refused`() {
        #expect(refusal { $0.predicate = WirePredicate() } == .requestInvalid)
        #expect(refusal { $0.predicate = comparison("a", WireQueryValue()) } == .requestInvalid)
        #expect(refusal { $0.predicate = comparison("a", reference("x"), .unspecified) } == .requestInvalid)
        #expect(refusal { $0.predicate = comparison("a", reference("x"), .unrecognized(99)) } == .requestInvalid)
        #expect(refusal { $0.predicate.and.parts = [WirePredicate()] } == .requestInvalid)
    }

    @Test func `I-7: depth, nodes and sorts are bounded while they are read`() throws {
        func nested(_ depth: Int) -> WirePredicate {
            var predicate = WirePredicate()
            predicate.always = true
            for _ in 1..<depth {
                var outer = WirePredicate()
                outer.and.parts = [predicate]
                predicate = outer
            }
            return predicate
        }
        // As deep as is allowed gets through the protocol's own bounds.
        var message = WireClientEnvelope()
        message.id = 1
        message.queryRecords.query.predicate = nested(32)
        let bytes: [UInt8] = message.encoded
        guard case .queryRecords(let request)? = try ClientMessage(bytes).request else {
            Issue.record("no query")
            return
        }
        #expect(refusal { $0.predicate = request.query.predicate } == nil)
        #expect(refusal { $0.predicate = nested(33) } == .queryTooLarge)
        var value = WireQueryValue()
        value.int64 = 1
        #expect(refusal { $0.predicate.isIn.values = Array(repeating: value, count: 1_499) } == nil)
        #expect(refusal { $0.predicate.isIn.values = Array(repeating: value, count: 1_500) } == .queryTooLarge)
        #expect(refusal { $0.predicate.and.parts = Array(repeating: nested(1), count: 1_500) } == .queryTooLarge)
        #expect(refusal { $0.sorts = Array(repeating: WireSort(), count: 17) } == .queryTooLarge)
    }

    @Test func `R-173, R-188, R-215: an answer names zones where the query did not, and has the keys that are wanted`()
        throws
    {
        var request = WireQueryRecords()
        request.query.recordType = "Note"
        request.limit = 7
        request.cursor.append(contentsOf: [1, 2])
        request.desiredKeys.keys = ["count"]
        let match = QueryMatch(zone: ZoneID(4), zoneName: "n", record: Examples.record("a"))
        let cursor = QueryCursor(
            store: StoreIncarnation(1), database: DatabaseID(3), viewer: nil,
            query: Query(recordType: "Note", zoneName: nil),
            position: QueryPosition(values: [nil], recordName: "a", zoneName: "n"))
        for zone in [nil, "n"] {
            if let zone { request.query.zone = Examples.zoneID(zone) }
            let search = try RecordsSearch(request, by: Examples.viewpoint, limits: Examples.limits)
            #expect(search.limit == 7 && search.cursor == [1, 2] && search.database == Examples.viewpoint.database)
            let read = QueryPageRead(isZoneFound: true, matches: [match], hasMore: zone == nil)
            let page = try QueryPage.make(
                of: read, for: QueryPageQuery(database: DatabaseID(3), query: search.query, recordsMax: 1, bytesMax: 1),
                by: .owner(UserID(1)), store: cursor.store, isTypeKnown: true
            ).get()
            let selected = search.selection.map { [match.record.fields.selecting($0)] }
            let message = try QueryPageEncoder.message(
                300, page, to: search, selected: selected, seenFrom: Examples.viewpoint)
            let envelope = try WireServerEnvelope(reading: message)
            #expect(envelope.encoded == message && envelope.id == 300)
            let answer = envelope.queryRecords
            var expected = WireRecord(match.record, in: match.zone, seenFrom: Examples.viewpoint)
            expected.fields = answer.matches[0].record.fields
            #expect(answer.matches[0].record == expected)
            #expect(answer.matches.map(\.record.name) == ["a"] && answer.matches[0].hasZone == (zone == nil))
            #expect(answer.matches[0].record.fields.count < Examples.fields("a").byteCount)
            #expect(answer.cursor.isEmpty == (zone != nil))
        }
    }
}
