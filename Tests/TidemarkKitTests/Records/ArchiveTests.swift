// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkFields

@testable import TidemarkKit

/// Archives as apps make them, with secure coding.
@Suite struct ArchiveTests {
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
            metadata: RecordMetadata(tag: [9, 8], createdAt: 1, modifiedAt: 2, createdBy: "_a", modifiedBy: "_b"),
            parentName: "p",
            share: CKRecord.Reference(recordID: CKRecord.ID(recordName: "s", zoneID: zone), action: .none))
        return record
    }

    private func systemFields(of record: CKRecord) -> Data {
        let archiver = NSKeyedArchiver(requiringSecureCoding: true)
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

    @Test func `R-049, R-050: system fields come back without the app's fields and changes`() throws {
        let original = try sample()
        original["text"] = "changed"
        let record = try #require(try record(from: systemFields(of: original)))
        #expect(record.recordType == "T" && record.recordID == original.recordID)
        #expect(record.recordChangeTag == original.recordChangeTag && record.changeTag == [9, 8])
        #expect(record.creationDate == original.creationDate && record.modificationDate == original.modificationDate)
        #expect(record.creatorUserRecordID == original.creatorUserRecordID)
        #expect(record.lastModifiedUserRecordID == original.lastModifiedUserRecordID)
        #expect(record.parent == original.parent && record.share == original.share)
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

    @Test func `R-113: the ancestor of a record from system fields has the tag and no fields`() throws {
        let record = try #require(try record(from: systemFields(of: sample())))
        record["text"] = "mine"
        #expect(record.ancestor().changeTag == [9, 8])
        #expect(record.ancestor().allKeys().isEmpty)
    }

    @Test func `R-049: system fields stay the same bytes through any number of archives`() throws {
        let first = systemFields(of: try sample())
        let again = systemFields(of: try #require(try record(from: first)))
        #expect(try properties(of: again).isEqual(properties(of: first)))
        #expect(again.count == first.count)
    }

    /// The order of the entries of a dictionary in an archive is left open, so archives are compared by content.
    private func properties(of archive: Data) throws -> NSDictionary {
        try #require(try PropertyListSerialization.propertyList(from: archive, format: nil) as? NSDictionary)
    }

    @Test func `R-050, R-051: a whole record comes back with fields and changes`() throws {
        let original = try sample()
        original["added"] = ["x"]
        original["number"] = nil
        original.encryptedValues["secret"] = "changed"
        original["file"] = CKAsset(fileURL: URL(fileURLWithPath: "/somewhere/a b.txt"))
        original["here"] = CLLocation(latitude: 1, longitude: 2)
        let data = try NSKeyedArchiver.archivedData(withRootObject: original, requiringSecureCoding: true)
        let record = try #require(try NSKeyedUnarchiver.unarchivedObject(ofClass: CKRecord.self, from: data))
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
        let data = try NSKeyedArchiver.archivedData(withRootObject: original, requiringSecureCoding: true)
        let record = try #require(try NSKeyedUnarchiver.unarchivedObject(ofClass: CKRecord.self, from: data))
        #expect(try record.changes(all: false).fields == original.changes(all: false).fields)
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
        let data = try NSKeyedArchiver.archivedData(withRootObject: value, requiringSecureCoding: true)
        let back = try #require(try NSKeyedUnarchiver.unarchivedObject(ofClass: Value.self, from: data))
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
        let data = try NSKeyedArchiver.archivedData(withRootObject: zone, requiringSecureCoding: true)
        let back = try #require(try NSKeyedUnarchiver.unarchivedObject(ofClass: CKRecordZone.self, from: data))
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
}
