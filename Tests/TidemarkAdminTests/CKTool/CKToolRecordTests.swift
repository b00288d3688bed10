// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkDomain
import TidemarkFields

@testable import TidemarkAdmin

@Suite struct CKToolRecordTests {
    private static func record(_ fields: [Field]) throws -> CKToolRecord {
        let state = RecordState(
            name: "r", type: "T", fields: try FieldMap(fields), changeNumber: 5, isDeleted: false, parent: "p",
            createdAt: Timestamp(milliseconds: 1_609_459_200_000), createdBy: UserID(1), createdByDevice: .nobody,
            modifiedAt: Timestamp(milliseconds: 1_609_459_200_250), modifiedBy: UserID(2), batchEnd: 5)
        return CKToolRecord(
            record: state, zone: ZoneID(3), zoneName: "Notes", store: StoreIncarnation(1), userNames: [UserID(1): "_a"])
    }

    @Test func `R-896: a record is written with its names, its dates, and the types of its fields`() throws {
        let text = CKToolJSONText.text(
            try Self.record([Field("title", .string("a \"b\"\u{1B}")), Field("pages", .int64(7))]).output())
        let parsed = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
        #expect(parsed["recordName"] as? String == "r" && parsed["recordType"] as? String == "T")
        #expect((parsed["recordChangeTag"] as? String)?.isEmpty == false)
        let created = parsed["created"] as? [String: Any]
        #expect(created?["timestamp"] as? String == "2021-01-01T00:00:00.000Z")
        #expect(created?["userRecordName"] as? String == "_a")
        // A user who is not known has no name.
        #expect((parsed["modified"] as? [String: Any])?["userRecordName"] is NSNull)
        let fields = parsed["fields"] as? [String: [String: Any]]
        #expect(fields?["title"]?["type"] as? String == "stringType")
        #expect(fields?["title"]?["value"] as? String == "a \"b\"\u{1B}")
        #expect(fields?["pages"]?["value"] as? Int == 7)
        // it gives a terminal no commands.
        #expect(!text.contains("\u{1B}"))
    }

    /// What is written can be read again as the same field.
    @Test func `R-896: fields are written as create-record reads them`() throws {
        let place = try #require(FieldLocation(latitude: 64.1, longitude: -21.9))
        let fields = [
            Field("a", .string("x")), Field("b", .int64(-3)), Field("c", .double(0.1)),
            Field("d", .date(milliseconds: 1_609_459_200_250)), Field("e", .bytes([1, 2, 255])),
            Field("f", .reference(FieldReference(recordName: "r", action: .deleteSelf))), Field("g", .location(place)),
            Field("h", .strings(["x", "y"])), Field("i", .int64s([1])), Field("j", .doubles([0.5])),
            Field("k", .dates(milliseconds: [0])), Field("l", .bytesList([[], [1]])),
            Field("m", .references([FieldReference(recordName: "q")])), Field("n", .locations([place])),
        ]
        guard case .object(let members) = try Self.record(fields).output(),
            let written = members.first(where: { $0.0 == "fields" })
        else {
            Issue.record("no fields")
            return
        }
        let read = try CKToolFields(parsing: CKToolJSONText.text(written.1)).fieldMap(files: [:], in: .gmt)
        #expect(read == (try FieldMap(fields)))
    }

    @Test func `R-896: only the requested fields are written, and of a file its size`() throws {
        let asset = FieldAsset(sha256: [UInt8](repeating: 7, count: 32), byteCount: 3)
        let record = try Self.record([
            Field("a", .asset(asset)), Field("b", .int64(1)), Field("c", .emptyList), Field("d", .assets([asset])),
        ])
        let text = CKToolJSONText.text(record.output(["a", "c", "none"]))
        let parsed = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
        let fields = parsed?["fields"] as? [String: [String: Any]]
        #expect(fields?.keys.sorted() == ["a", "c"])
        #expect((fields?["a"]?["value"] as? [String: Any])?["size"] as? Int == 3)
        #expect(fields?["c"]?["type"] as? String == "emptyListType")
        #expect((fields?["c"]?["value"] as? [Any])?.isEmpty == true)
        #expect(CKToolJSONText.text(record.output()).contains("assetListType"))
    }

    @Test func `R-896: JSON has a line for each member`() {
        let value = OutputValue.object([("a", .list([.number(1), .object([])])), ("b", .list([])), ("c", .none)])
        #expect(
            CKToolJSONText.text(value) == """
                {
                  "a": [
                    1,
                    {}
                  ],
                  "b": [],
                  "c": null
                }

                """)
    }
}
