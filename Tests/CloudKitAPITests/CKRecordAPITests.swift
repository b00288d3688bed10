// SPDX-License-Identifier: Apache-2.0

import CloudKit
import Testing

/// One use of each symbol of Tests/API.md, section CKRecord, as an app writes it, in that order.
@Suite struct CKRecordAPITests {
    @Test func `R-040 … R-056: CKRecord`() throws {
        let type: CKRecord.RecordType = "Note"
        let key: CKRecord.FieldKey = "text"
        let record = CKRecord(recordType: type)
        let named = CKRecord(recordType: type, recordID: CKRecord.ID(recordName: "n"))
        #expect(record.recordType == "Note" && named.recordID.recordName == "n")
        #expect(CKRecord.supportsSecureCoding)
        let copy = named.copy() as? CKRecord
        #expect(copy !== named && copy?.recordID == named.recordID)
        let tag: String? = record.recordChangeTag
        let creator: CKRecord.ID? = record.creatorUserRecordID
        let created: Date? = record.creationDate
        let modifier: CKRecord.ID? = record.lastModifiedUserRecordID
        let modified: Date? = record.modificationDate
        let share: CKRecord.Reference? = record.share
        #expect(tag == nil && creator == nil && created == nil && modifier == nil && modified == nil && share == nil)
        record.parent = CKRecord.Reference(recordID: named.recordID, action: .none)
        #expect(record.parent?.recordID == named.recordID)
        record.setParent(named)
        record.setParent(named.recordID)
        record.setParent(nil as CKRecord?)
        record.setParent(nil as CKRecord.ID?)
        #expect(record.parent == nil)

        record.setObject("a" as CKRecordValue, forKey: key)
        let object: (any CKRecordValue)? = record.object(forKey: key)
        #expect(object as? String == "a")
        record[key] = "b" as CKRecordValue
        record["count"] = 3
        record["when"] = Date(timeIntervalSince1970: 1)
        let value: (any CKRecordValue)? = record[key]
        let general: (any CKRecordValueProtocol)? = record[key]
        let text: String? = record[key]
        let count: Int? = record["count"]
        #expect(value as? String == "b" && general as? String == "b" && text == "b" && count == 3)
        #expect(record.allKeys().sorted() == ["count", "text", "when"])
        #expect(record.changedKeys().sorted() == ["count", "text", "when"])
        record["note"] = "two words"
        #expect(record.allTokens().sorted() == ["b", "two", "words"])
        record.encryptedValues["secret"] = "s"
        let encrypted: any CKRecordKeyValueSetting & Sendable = record.encryptedValues
        #expect(encrypted["secret"] as? String == "s" && encrypted.allKeys() == ["secret"])
        record.setValue("c", forKey: "text")
        #expect(record.value(forKey: "text") as? String == "c")
        record.setValuesForKeys(["text": "d"])
        #expect(record.dictionaryWithValues(forKeys: ["text"])["text"] as? String == "d")
        #expect(record.value(forKeyPath: "text") as? String == "d")
        var keys: [CKRecord.FieldKey] = []
        for (key, value) in record {
            keys.append(key)
            let _: any CKRecordValueProtocol = value
        }
        #expect(keys.sorted() == ["count", "note", "text", "when"])
        var iterator: CKRecordKeyValueIterator = record.makeIterator()
        let first: (CKRecord.FieldKey, any CKRecordValueProtocol)? = iterator.next()
        #expect(first != nil)
    }

    @Test func `R-049, R-050, R-051: a record's archives`() throws {
        let record = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "n"))
        record["text"] = "a"
        let archiver = NSKeyedArchiver(requiringSecureCoding: true)
        record.encodeSystemFields(with: archiver)
        archiver.finishEncoding()
        let unarchiver = try NSKeyedUnarchiver(forReadingFrom: archiver.encodedData)
        unarchiver.requiresSecureCoding = true
        let fields = CKRecord(coder: unarchiver)
        unarchiver.finishDecoding()
        #expect(fields?.recordID == record.recordID && fields?.allKeys() == [])
        #expect(try archived(record)["text"] as? String == "a")
        let coder = NSKeyedArchiver(requiringSecureCoding: true)
        record.encode(with: coder)
        coder.finishEncoding()
        #expect(!coder.encodedData.isEmpty)
    }

    @Test func `R-067: CKRecordKeyValueSetting`() {
        func use(_ values: any CKRecordKeyValueSetting) {
            values.setObject(1 as CKRecordValue, forKey: "a")
            values["b"] = "two"
            values["c"] = [1, 2]
            let number: Int? = values["a"]
            #expect(values.object(forKey: "a") as? Int == 1 && number == 1)
            #expect(values.allKeys().sorted() == ["a", "b", "c"] && values.changedKeys().sorted() == ["a", "b", "c"])
            let object: any NSObjectProtocol = values
            #expect(object.isEqual(values))
        }
        use(CKRecord(recordType: "Note"))
        use(CKRecord(recordType: "Note").encryptedValues)
    }

    @Test func `R-060, R-061: CKRecordValueProtocol and CKRecordValue`() throws {
        let reference = CKRecord.Reference(recordID: CKRecord.ID(recordName: "r"), action: .none)
        let asset = CKAsset(fileURL: URL(fileURLWithPath: "/none"))
        let place = CLLocation(latitude: 1, longitude: 2)
        let values: [any CKRecordValueProtocol] = [
            "s", Date(), Data([1]), true, 1.5, Float(1.5), 1, UInt(1), Int8(1), Int16(1), Int32(1), Int64(1), UInt8(1),
            UInt16(1), UInt32(1), UInt64(1), ["a"], [reference], NSString(string: "s"), NSDate(), NSData(),
            NSNumber(value: 1), NSArray(array: ["a"]), reference, asset, place,
        ]
        let objects: [any CKRecordValue] = [
            NSString(string: "s"), NSNumber(value: 1), NSArray(array: [1]), NSDate(), NSData(), reference, asset, place,
        ]
        let record = CKRecord(recordType: "Note")
        for (index, value) in values.enumerated() { record["v\(index)"] = value }
        for (index, object) in objects.enumerated() { record["o\(index)"] = object }
        #expect(record.allKeys().count == values.count + objects.count)
        #expect("s" as CKRecordValue is String)
    }

    @Test func `R-041, R-183: CKRecord.SystemType and CKRecord.SystemFieldKey`() {
        #expect([CKRecord.SystemType.userRecord, CKRecord.SystemType.share] == ["Users", "cloudkit.share"])
        let keys: [CKRecord.FieldKey] = [
            CKRecord.SystemFieldKey.recordID, CKRecord.SystemFieldKey.creatorUserRecordID,
            CKRecord.SystemFieldKey.creationDate, CKRecord.SystemFieldKey.lastModifiedUserRecordID,
            CKRecord.SystemFieldKey.modificationDate, CKRecord.SystemFieldKey.parent, CKRecord.SystemFieldKey.share,
        ]
        #expect(Set(keys).count == 7)
    }

    @Test func `R-040: CKRecord.ID`() throws {
        let zoneID = CKRecordZone.ID(zoneName: "Z")
        let ids = [
            CKRecord.ID(), CKRecord.ID(recordName: "n"), CKRecord.ID(recordName: "n", zoneID: zoneID),
            CKRecord.ID(zoneID: zoneID),
        ]
        #expect(Set(ids).count == 4)
        let name: String = ids[1].recordName
        #expect(name == "n" && ids[1].zoneID == CKRecordZone.ID.default && ids[2].zoneID == zoneID)
        #expect(try archived(ids[2]) == ids[2] && (ids[2].copy() as? CKRecord.ID) == ids[2])
        let _: any Sendable = ids[0]
    }

    @Test func `R-076: CKRecord.Reference`() throws {
        let record = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "n"))
        let reference = CKRecord.Reference(recordID: record.recordID, action: CKRecord.ReferenceAction.deleteSelf)
        let other = CKRecord.Reference(record: record, action: .none)
        #expect(reference.recordID == other.recordID && reference.action != other.action)
        #expect([CKRecord.ReferenceAction.none, .deleteSelf].map(\.rawValue) == [0, 1])
        #expect(try archived(reference) == reference && (reference.copy() as? CKRecord.Reference) == reference)
    }

    @available(*, deprecated, message: "uses what is deprecated")
    @Test func `R-076: the older name of a reference's action`() {
        let action: CKRecord.Reference.Action = .deleteSelf
        #expect(action == CKRecord.ReferenceAction.deleteSelf)
    }

    @Test func `R-070: CKAsset`() throws {
        let url = URL(fileURLWithPath: "/none/file")
        let asset = CKAsset(fileURL: url)
        let file: URL? = asset.fileURL
        #expect(file == url)
        #expect(try archived(asset).fileURL == url && (asset.copy() as? CKAsset)?.fileURL == url)
        let _: any (CKRecordValueProtocol & Sendable) = asset
    }

    @Test func `R-075: CLLocation`() throws {
        let degrees: CLLocationDegrees = 52.5
        let place = CLLocation(latitude: degrees, longitude: 13.4)
        let coordinate = CLLocationCoordinate2D(latitude: 52.5, longitude: 13.4)
        let full = CLLocation(
            coordinate: coordinate, altitude: 34, horizontalAccuracy: 5, verticalAccuracy: 6, timestamp: Date())
        let moving = CLLocation(
            coordinate: coordinate, altitude: 34, horizontalAccuracy: 5, verticalAccuracy: 6, course: 90, speed: 2,
            timestamp: Date())
        #expect(place.coordinate.latitude == 52.5 && full.altitude == 34 && moving.course == 90 && moving.speed == 2)
        #expect(full.horizontalAccuracy == 5 && full.verticalAccuracy == 6 && full.timestamp <= Date())
        #expect(place.distance(from: full) == 0)
        #expect(try archived(moving).speed == 2 && (moving.copy() as? CLLocation) == moving)
    }

    private final class Note: CKRecord, @unchecked Sendable {
        var title: String {
            get { self["title"] ?? "" }
            set { self["title"] = newValue }
        }
    }

    private final class Draft: CKRecord, @unchecked Sendable {
        var copyCount = 0

        init(title: String) {
            super.init(recordType: "Note", recordID: CKRecord.ID(recordName: title))
        }

        required init?(coder: NSCoder) {
            super.init(coder: coder)
            copyCount = coder.decodeInteger(forKey: "copyCount") + 1
        }

        override class var supportsSecureCoding: Bool { true }

        override func encode(with coder: NSCoder) {
            super.encode(with: coder)
            coder.encode(copyCount, forKey: "copyCount")
        }
    }

    private final class Pinned: CKRecord, @unchecked Sendable {
        override func copy(with zone: NSZone? = nil) -> Any { self }
        override var description: String { "pinned" }
    }

    @Test func `R-052: subclasses of records are made and copied as what they are`() throws {
        let note = Note(recordType: "Note", recordID: CKRecord.ID(recordName: "n"))
        note.title = "t"
        note["count"] = 3
        note.encryptedValues["secret"] = "s"
        let copy = try #require(note.copy() as? Note)
        #expect(copy !== note && copy.recordID == note.recordID && copy.title == "t")
        #expect(copy["count"] as? Int == 3 && copy.encryptedValues["secret"] as? String == "s")
        #expect(copy.changedKeys() == note.changedKeys())
        copy.title = "other"
        #expect(note.title == "t" && copy.title == "other")
        #expect(Note(recordType: "Note").recordID != Note(recordType: "Note").recordID)
        let draft = Draft(title: "d")
        #expect((draft.copy() as? Draft)?.copyCount == 1 && draft.recordID.recordName == "d")
        let pinned = Pinned(recordType: "Note")
        #expect(pinned.copy() as? Pinned === pinned && "\(pinned)" == "pinned")
    }

    @available(*, deprecated, message: "uses what is deprecated")
    @Test func `R-040: a record with a new name in a zone`() {
        let zoneID = CKRecordZone.ID(zoneName: "Z")
        #expect(CKRecord(recordType: "Note", zoneID: zoneID).recordID.zoneID == zoneID)
    }

    @Test func `R-049: records can be subclassed, and are archived as their class`() throws {
        let archiver = NSKeyedArchiver(requiringSecureCoding: true)
        CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "n")).encodeSystemFields(with: archiver)
        let note = try #require(Note(coder: NSKeyedUnarchiver(forReadingFrom: archiver.encodedData)))
        note.title = "t"
        #expect(note.recordID.recordName == "n" && (note as CKRecord)["title"] == "t")
    }
}
