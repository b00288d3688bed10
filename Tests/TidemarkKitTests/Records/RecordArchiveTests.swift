// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkFields

@testable import TidemarkKit

/// Archives as apps make them, with secure coding.
@Suite struct RecordArchiveTests {
    private func sample() throws -> CKRecord {
        let zone = CKRecordZone.ID(zoneName: "Z", ownerName: "_owner")
        let record = CKRecord(
            recordID: CKRecord.ID(recordName: "r", zoneID: zone), recordType: "T",
            fields: try FieldMap([
                Field("text", .string("a\u{0}👩‍👩‍👧")), Field("number", .int64(.min)), Field("ratio", .double(-0.5)),
                Field("when", .date(milliseconds: -1)), Field("data", .bytes([0, 1])),
                Field("to", .reference(FieldReference(recordName: "x", action: .deleteSelf))),
                Field("list", .strings(["a", "b"])), Field("none", .emptyList),
                Field("secret", .int64s([1, 2]), isEncrypted: true), Field("flag", .int64(1)),
            ]),
            metadata: ServerMetadata(tag: [9, 8], createdAt: 1, modifiedAt: 2, createdBy: "_a", modifiedBy: "_b"),
            parentName: "p",
            share: CKRecord.Reference(recordID: CKRecord.ID(recordName: "s", zoneID: zone), action: .none))
        return record
    }

    private func systemFields(
        of record: CKRecord, format: PropertyListSerialization.PropertyListFormat = .binary
    ) -> Data {
        let archiver = NSKeyedArchiver(requiringSecureCoding: true)
        archiver.outputFormat = format
        record.encodeSystemFields(with: archiver)
        archiver.finishEncoding()
        return archiver.encodedData
    }

    private func record(from data: Data) throws -> CKRecord? {
        let unarchiver = try NSKeyedUnarchiver(forReadingFrom: data)
        unarchiver.requiresSecureCoding = true
        defer { unarchiver.finishDecoding() }
        return CKRecord(coder: unarchiver)
    }

    @Test func `R-049, R-050: system fields come back with the share, without the app's fields and changes`() throws {
        let original = try sample()
        original["text"] = "changed"
        let record = try #require(try record(from: systemFields(of: original)))
        #expect(record.recordType == "T" && record.recordID == original.recordID)
        #expect(record.recordChangeTag == original.recordChangeTag && record.changeTag == [9, 8])
        #expect(record.creationDate == original.creationDate && record.modificationDate == original.modificationDate)
        #expect(record.creatorUserRecordID == original.creatorUserRecordID)
        #expect(record.lastModifiedUserRecordID == original.lastModifiedUserRecordID)
        #expect(record.parent == original.parent)
        #expect(record.share?.recordID.recordName == "s" && record.share == original.share)
        #expect(record.allKeys().isEmpty && record.changedKeys().isEmpty)
        #expect(record.encryptedValues.allKeys().isEmpty)
        #expect(try record.changes(all: true).parent == .unchanged)
    }

    @Test func `R-049: a new record's system fields come back too`() throws {
        let original = CKRecord(recordType: "T")
        original.setParent(CKRecord.ID(recordName: "p"))
        let record = try #require(try record(from: systemFields(of: original)))
        #expect(record.recordID == original.recordID && record.recordChangeTag == nil && record.creationDate == nil)
        #expect(try record.changes(all: false).parent == .set(recordName: "p"))
    }

    @Test func `R-049, R-113: the parent before a change is in the archive too`() throws {
        let original = try sample()
        #expect(try record(from: systemFields(of: original))?.ancestor().parent == original.parent)
        original.parent = nil
        let moved = try #require(try record(from: systemFields(of: original)))
        #expect(moved.parent == nil && moved.ancestor().parent?.recordID.recordName == "p")
    }

    @Test func `R-113: the ancestor of a record from system fields has the tag and no fields`() throws {
        let record = try #require(try record(from: systemFields(of: sample())))
        record["text"] = "mine"
        #expect(record.ancestor().changeTag == [9, 8])
        #expect(record.ancestor().allKeys().isEmpty)
    }

    @Test func `R-049: system fields stay the same bytes through any number of archives`() throws {
        // As XML, where the keys of a dictionary are in order.
        let first = systemFields(of: try sample(), format: .xml)
        let again = systemFields(of: try #require(try record(from: first)), format: .xml)
        #expect(String(decoding: again, as: UTF8.self) == String(decoding: first, as: UTF8.self))
    }

    @Test func `R-050, R-051: a whole record comes back with fields and changes`() throws {
        let original = try sample()
        original["added"] = ["x"]
        original["number"] = nil
        original.encryptedValues["secret"] = "changed"
        original["file"] = CKAsset(fileURL: URL(fileURLWithPath: "/somewhere/a b.txt"))
        original["here"] = CLLocation(latitude: 1, longitude: 2)
        let record = try archived(original)
        #expect(record.allKeys() == original.allKeys() && record.changedKeys() == original.changedKeys())
        #expect(record.encryptedValues.allKeys() == ["secret"])
        for key in original.allKeys() {
            #expect((record[key] as? NSObject)?.isEqual(original[key] as? NSObject) == true, "\(key)")
        }
        #expect((record["file"] as? CKAsset)?.fileURL?.path == "/somewhere/a b.txt")
        #expect(record.ancestor()["number"] as? Int64 == .min)
        record["file"] = nil
        original["file"] = nil
        #expect(try record.changes(all: true).fields == original.changes(all: true).fields)
        #expect(record.changeTag == original.changeTag)
    }

    @Test func `R-051: integers, doubles and truth values keep their types in an archive`() throws {
        let original = CKRecord(recordType: "T")
        original["i"] = 1
        original["d"] = 1.0
        original["b"] = true
        original["l"] = [1.0, 2.0]
        original["m"] = [2, 1]
        original.encryptedValues["d"] = 1
        let record = try archived(original)
        #expect(record.encryptedValues["d"] as? Int == 1)
        let types = try ["i", "d", "b", "l", "m"].map { try type(of: $0, in: record) }
        #expect(types == [.int64, .double, .int64, .doubleList, .int64List])
    }

    private func type(of key: String, in record: CKRecord) throws -> FieldType? {
        let single = CKRecord(recordType: "T")
        single[key] = record[key]
        return try single.changes(all: false).fields[key]?.type
    }

    @Test func `R-050, R-201: the other values come back equal`() throws {
        let zoneID = CKRecordZone.ID(zoneName: "Z", ownerName: "_o")
        let recordID = CKRecord.ID(recordName: "r", zoneID: zoneID)
        try check(zoneID)
        try check(recordID)
        try check(CKRecord.Reference(recordID: recordID, action: .deleteSelf))
        try check(CKServerChangeToken(bytes: [0, 1, 255]))
        try check(CKServerChangeToken(bytes: []))
        try check(CKRecordZone(zoneID: zoneID, capabilities: [.atomic, .sharing]))
        try check(CLLocation(latitude: 1.5, longitude: -2))
        try check(CKAsset(fileURL: URL(fileURLWithPath: "/a/b")))
        try check(CKNotification.ID("n"))
        try check(CKSubscription.NotificationInfo(alertBody: "b", desiredKeys: ["a", "b"], shouldBadge: true))
    }

    private func check<Value: NSObject & NSSecureCoding & NSCopying>(_ value: Value) throws {
        let back = try archived(value)
        #expect(back == value && back.hash == value.hash)
        #expect(value.copy() as? Value == value)
        let list = try NSKeyedArchiver.archivedData(
            withRootObject: NSArray(array: [value, value]), requiringSecureCoding: true)
        let objects = try NSKeyedUnarchiver.unarchivedObject(ofClasses: [NSArray.self, Value.self], from: list)
        #expect(objects as? [Value] == [value, value])
    }

    @Test func `R-050: a zone keeps its capabilities and share`() throws {
        let zone = CKRecordZone(
            zoneID: CKRecordZone.ID(zoneName: "Z"), capabilities: [.fetchChanges, .zoneWideSharing],
            share: CKRecord.Reference(recordID: CKRecord.ID(recordName: "s"), action: .none), encryptionScope: .perZone)
        let back = try archived(zone)
        #expect(back.capabilities == zone.capabilities && back.share == zone.share && back.encryptionScope == .perZone)
    }

    @Test func `R-050: an archive of something else gives nil, not a crash`() throws {
        let archiver = NSKeyedArchiver(requiringSecureCoding: true)
        archiver.encode(NSString(string: "x"), forKey: "Other")
        archiver.finishEncoding()
        let data = archiver.encodedData
        #expect(try CKRecord(coder: NSKeyedUnarchiver(forReadingFrom: data)) == nil)
        #expect(try CKRecord.ID(coder: NSKeyedUnarchiver(forReadingFrom: data)) == nil)
        #expect(try CKRecordZone.ID(coder: NSKeyedUnarchiver(forReadingFrom: data)) == nil)
        #expect(try CKRecordZone(coder: NSKeyedUnarchiver(forReadingFrom: data)) == nil)
        #expect(try CKRecord.Reference(coder: NSKeyedUnarchiver(forReadingFrom: data)) == nil)
        #expect(try CKServerChangeToken(coder: NSKeyedUnarchiver(forReadingFrom: data)) == nil)
        #expect(try CLLocation(coder: NSKeyedUnarchiver(forReadingFrom: data)) == nil)
    }

    @Test func `R-051: an archive made by the first version can still be read`() throws {
        let text = String(Self.firstArchive.filter { !$0.isWhitespace })
        let data = try #require(Data(base64Encoded: text))
        let record = try #require(try NSKeyedUnarchiver.unarchivedObject(ofClass: CKRecord.self, from: data))
        let zone = CKRecordZone.ID(zoneName: "Z", ownerName: "_owner")
        #expect(record.recordID == CKRecord.ID(recordName: "r", zoneID: zone) && record.recordType == "T")
        #expect(record.changeTag == [9, 8] && record.changedKeys() == ["here", "number"])
        #expect(record["text"] as? String == "é" && record["number"] as? Int == 6)
        #expect((record["to"] as? [CKRecord.Reference])?.first?.recordID.recordName == "x")
        #expect((record["here"] as? CLLocation)?.coordinate.longitude == 2)
        #expect(record.encryptedValues["secret"] as? Double == 1)
        #expect(record.ancestor()["number"] as? Int == 5 && record.parent?.recordID.recordName == "p")
        #expect(record.creatorUserRecordID?.recordName == "_a")
    }

    /// Not to be edited: apps keep such bytes in their databases.
    private static let firstArchive = """
        YnBsaXN0MDDUAQIDBAUGB8ZZJGFyY2hpdmVyWCR2ZXJzaW9uWCRvYmplY3RzVCR0b3BfEA9OU0tleWVkQXJjaGl2ZXISAAGGoK8Q
        JQgJLi82Nz4/QEdOT1BRWF9gZ2hwcXJzeoKUm5yiqK+wt7i5vr9VJG51bGzfEBIKCwwNDg8QERITFBUWFxgZGhscHR4fIB0iIyQl
        JicoKSorLB1aTW9kaWZpZWRCeV8QFEVuY3J5cHRlZENoYW5nZWRLZXlzXxAQRW5jcnlwdGVkTnVtYmVyc1YkY2xhc3NeT3JpZ2lu
        YWxGaWVsZHNdRW5jcnlwdGVkS2V5c1hSZWNvcmRJRFtDaGFuZ2VkS2V5c1RLZXlzWUNyZWF0ZWRBdFlDcmVhdGVkQnlWUGFyZW50
        V051bWJlcnNZQ2hhbmdlVGFnVlZhbHVlc1pNb2RpZmllZEF0WlJlY29yZFR5cGVfEA9FbmNyeXB0ZWRWYWx1ZXOADIAigCGAJIAj
        gCKAA4AfgBIQAYALgA2AEYAKgBcQAoACgCJRVNMwMTIzNDVWJGNsYXNzVlpvbmVJRFpSZWNvcmROYW1lgAmABYAEUXLTODk6Ozw9
        ViRjbGFzc1hab25lTmFtZVlPd25lck5hbWWACIAGgAdRWlZfb3duZXLSQUJDRlgkY2xhc3Nlc1okY2xhc3NuYW1lokRFXxAbVGlk
        ZW1hcmtLaXQuX0NLUmVjb3JkWm9uZUlEWE5TT2JqZWN0XxAbVGlkZW1hcmtLaXQuX0NLUmVjb3JkWm9uZUlE0khJSk1YJGNsYXNz
        ZXNaJGNsYXNzbmFtZaJLTF8QF1RpZGVtYXJrS2l0Ll9DS1JlY29yZElEWE5TT2JqZWN0XxAXVGlkZW1hcmtLaXQuX0NLUmVjb3Jk
        SURCCQhSX2FSX2LTUlNUVVZXVkFjdGlvblhSZWNvcmRJRFYkY2xhc3MQAIAOgBDTWVpbNDNeVlpvbmVJRFYkY2xhc3NaUmVjb3Jk
        TmFtZYAFgAmAD1Fw0mFiY2RaJGNsYXNzbmFtZVgkY2xhc3Nlc18QHlRpZGVtYXJrS2l0Ll9DS1JlY29yZFJlZmVyZW5jZaJlZl8Q
        HlRpZGVtYXJrS2l0Ll9DS1JlY29yZFJlZmVyZW5jZVhOU09iamVjdE4KDAoGbnVtYmVyGAIoDNJpamtvWk5TLm9iamVjdHNWJGNs
        YXNzo2xtboATgBSAFYAWVGhlcmVUdGV4dFJ0b9J0dXZ5WCRjbGFzc2VzWiRjbGFzc25hbWWid3hXTlNBcnJheVhOU09iamVjdFdO
        U0FycmF50nt8b35WJGNsYXNzWk5TLm9iamVjdHOAFqN/gIGAGIAagBvZg4SFhoeIiYqLjI2Oj5CRkpGTViRjbGFzc1ZDb3Vyc2VY
        TGF0aXR1ZGVZVGltZXN0YW1wWUxvbmdpdHVkZV8QEkhvcml6b250YWxBY2N1cmFjeVVTcGVlZFhBbHRpdHVkZV8QEFZlcnRpY2Fs
        QWNjdXJhY3mAGSO/8AAAAAAAACM/8AAAAAAAACNByFjvcY/oiSNAAAAAAAAAACMAAAAAAAAAACO/8AAAAAAAACO/8AAAAAAAANKV
        lpeYWiRjbGFzc25hbWVYJGNsYXNzZXNfEBZUaWRlbWFya0tpdC5DTExvY2F0aW9uopmaXxAWVGlkZW1hcmtLaXQuQ0xMb2NhdGlv
        blhOU09iamVjdGEA6dKdnp9vWk5TLm9iamVjdHNWJGNsYXNzoaCAHIAW06OkpVWmV1ZBY3Rpb25YUmVjb3JkSURWJGNsYXNzgB2A
        ENOpqqszNK5WJGNsYXNzVlpvbmVJRFpSZWNvcmROYW1lgAmABYAeUXjSsbKzb1pOUy5vYmplY3RzViRjbGFzc6JstYATgCCAFlZu
        dW1iZXJPEBUKEwoGc2VjcmV0GAMxAAAAAAAA8D/Suru8b1pOUy5vYmplY3RzViRjbGFzc6CAFk8QQgoMCgZudW1iZXIYAigKChUK
        BnNlY3JldBABGAMxAAAAAAAA8D8KDAoEdGV4dBgBIgLDqQoNCgJ0bxgWYgUyAwoBeNLAwcLDWiRjbGFzc25hbWVYJGNsYXNzZXNf
        EBRUaWRlbWFya0tpdC5DS1JlY29yZKLExV8QFFRpZGVtYXJrS2l0LkNLUmVjb3JkWE5TT2JqZWN00cfIVHJvb3SAAQAIABEAGwAk
        AC0AMgBEAEkAcQB3AJ4AqQDAANMA2gDpAPcBAAEMAREBGwElASwBNAE+AUUBUAFbAW0BbwFxAXMBdQF3AXkBewF9AX8BgQGDAYUB
        hwGJAYsBjQGPAZEBkwGaAaEBqAGzAbUBtwG5AbsBwgHJAdIB3AHeAeAB4gHkAesB8AH5AgQCBwIlAi4CTAJRAloCZQJoAoICiwKl
        AqgCqwKuArUCvALFAswCzgLQAtIC2QLgAucC8gL0AvYC+AL6Av8DCgMTAzQDNwNYA2EDcAN1A4ADhwOLA40DjwORA5MDmAOdA6AD
        pQOuA7kDvAPEA80D1QPaA+ED7APuA/ID9AP2A/gECwQSBBkEIgQsBDYESwRRBFoEbQRvBHgEgQSKBJMEnASlBK4EswS+BMcE4ATj
        BPwFBQUIBQ0FGAUfBSEFIwUlBSwFMwU8BUMFRQVHBU4FVQVcBWcFaQVrBW0FbwV0BX8FhgWJBYsFjQWPBZYFrgWzBb4FxQXGBcgG
        DQYSBh0GJgY9BkAGVwZgBmMGaAAAAAAAAAIBAAAAAAAAAMkAAAAAAAAAAAAAAAAAAAZq
        """
}
