// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkFields

@testable import TidemarkKit

@Suite struct CKRecordServerTests {
    private func fetched(_ fields: [Field], tag: [UInt8] = [1], parent: String? = nil) throws -> CKRecord {
        CKRecord(
            recordID: CKRecord.ID(recordName: "r", zoneID: CKRecordZone.ID(zoneName: "Z")), recordType: "T",
            fields: try FieldMap(fields),
            metadata: ServerMetadata(tag: tag, createdAt: 1500, modifiedAt: 2500, modifiedBy: "_other"),
            parentName: parent)
    }

    @Test func `R-043, R-047: system fields are nil on a new record, and the server's on a fetched one`() throws {
        let new = CKRecord(recordType: "T")
        #expect(new.recordChangeTag == nil && new.creationDate == nil && new.modificationDate == nil)
        #expect(new.creatorUserRecordID == nil && new.lastModifiedUserRecordID == nil && new.parent == nil)
        let record = try fetched([Field("a", .int64(1))], parent: "p")
        #expect(record.recordChangeTag == "AQ")
        #expect(record.creationDate == Date(timeIntervalSince1970: 1.5))
        #expect(record.modificationDate == Date(timeIntervalSince1970: 2.5))
        #expect(record.creatorUserRecordID?.recordName == CKCurrentUserDefaultName)
        #expect(record.lastModifiedUserRecordID?.recordName == "_other")
        #expect(record.parent?.recordID == CKRecord.ID(recordName: "p", zoneID: record.recordID.zoneID))
        #expect(record.changedKeys().isEmpty && record.allKeys() == ["a"])
    }

    @Test func `R-098, R-102: changes are the changed keys, or all keys that the record holds`() throws {
        let record = try fetched([Field("a", .int64(1)), Field("b", .int64(2)), Field("c", .int64(3))])
        record["b"] = 20
        record["c"] = nil
        #expect(
            try record.changes(all: false).fields == FieldMap([Field("b", .int64(20)), Field("c", .removed)]))
        #expect(
            try record.changes(all: true).fields
                == FieldMap([Field("a", .int64(1)), Field("b", .int64(20)), Field("c", .removed)]))
        #expect(try record.changes(all: false).tag == [1])
        #expect(try CKRecord(recordType: "T").changes(all: true).tag.isEmpty)
    }

    @Test func `R-054: the answer to an earlier save that comes last changes nothing`() throws {
        let record = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "a"))
        record["text"] = "first"
        let first = try record.changes(all: true)
        record["text"] = "second"
        let second = try record.changes(all: true)
        record.apply(ServerMetadata(tag: [2], createdAt: 0, modifiedAt: 2), savedBy: second)
        let late = CKRecord(
            recordID: record.recordID, recordType: "Note", fields: first.fields,
            metadata: ServerMetadata(tag: [1], createdAt: 0, modifiedAt: 1))
        record.apply(late, savedBy: first)
        record.apply(ServerMetadata(tag: [1], createdAt: 0, modifiedAt: 1), savedBy: first)
        #expect(record["text"] == "second")
        #expect(record.changeTag == [2])
    }

    @Test func `R-054: after a save the record has the new tag and no changes`() throws {
        let record = try fetched([Field("a", .int64(1))])
        record["a"] = 2
        record.encryptedValues["s"] = "x"
        record.setParent(CKRecord.ID(recordName: "p", zoneID: record.recordID.zoneID))
        let changes = try record.changes(all: false)
        #expect(changes.parent == .set(recordName: "p"))
        record.apply(ServerMetadata(tag: [2], createdAt: 1500, modifiedAt: 3500), savedBy: changes)
        #expect(record.changeTag == [2])
        #expect(record.modificationDate == Date(timeIntervalSince1970: 3.5))
        #expect(record.changedKeys().isEmpty)
        #expect(try record.changes(all: false).fields.isEmpty)
        #expect(try record.changes(all: false).parent == .unchanged)
        #expect(record["a"] as? Int == 2)
        #expect(record.ancestor()["a"] as? Int == 2)
        #expect(record.ancestor().parent?.recordID.recordName == "p")
    }

    @Test func `R-054, R-113: the ancestor has the parent that was fetched or last saved`() throws {
        let record = try fetched([], parent: "p")
        func move(to name: String?) throws -> RecordChanges {
            record.setParent(name.map { CKRecord.ID(recordName: $0, zoneID: record.recordID.zoneID) })
            return try record.changes(all: false)
        }
        for (before, after) in [("p", "q"), ("q", nil), (nil, "r")] as [(String?, String?)] {
            let changes = try move(to: after)
            _ = try move(to: "meanwhile")
            #expect(record.ancestor().parent?.recordID.recordName == before)
            record.apply(ServerMetadata(tag: [2], createdAt: 0, modifiedAt: 0), savedBy: changes)
            #expect(record.ancestor().parent?.recordID.recordName == after)
            #expect(record.parent?.recordID.recordName == "meanwhile")
        }
    }

    @Test func `R-054: what changed while a save was under way stays changed`() throws {
        let record = try fetched([])
        record["a"] = 1
        record["b"] = 1
        let changes = try record.changes(all: false)
        record["b"] = 2
        record["c"] = 3
        record.parent = nil
        record.apply(ServerMetadata(tag: [2], createdAt: 0, modifiedAt: 0), savedBy: changes)
        #expect(record.changedKeys() == ["b", "c"])
        #expect(try record.changes(all: false).parent == .removed)
        #expect(record["b"] as? Int == 2)
        #expect(record.ancestor()["b"] as? Int == 1)
    }

    @Test func `R-054: a copy that others have overtaken becomes the server's record, but for later edits`() throws {
        let record = try fetched([Field("a", .int64(1)), Field("b", .int64(1)), Field("gone", .int64(1))], parent: "p")
        record.encryptedValues["s"] = "mine"
        record["a"] = 2
        record["c"] = 2
        let changes = try record.changes(all: false)
        record["c"] = 3
        record.encryptedValues["later"] = "mine"
        record["b"] = nil
        let server = try fetched(
            [
                Field("a", .int64(2)), Field("b", .int64(9)), Field("c", .int64(2)), Field("d", .int64(9)),
                Field("s", .string("mine"), isEncrypted: true), Field("t", .string("theirs"), isEncrypted: true),
            ], tag: [7], parent: "q")
        record.apply(server, savedBy: changes)
        #expect(record.changeTag == [7] && record.modificationDate == server.modificationDate)
        #expect(record.changedKeys() == ["b", "c", "later"])
        #expect(record.allKeys().sorted() == ["a", "c", "d"] && record["b"] == nil)
        #expect(["a", "c", "d"].map { record[$0] as? Int } == [2, 3, 9])
        #expect(record.encryptedValues["s"] as? String == "mine")
        #expect(record.encryptedValues["t"] as? String == "theirs")
        #expect(record.encryptedValues["later"] as? String == "mine")
        #expect(record.parent?.recordID.recordName == "q")
        #expect(record.originalFields == server.originalFields)
        #expect(record.ancestor()["c"] as? Int == 2 && record.ancestor()["b"] as? Int == 9)
        #expect(try record.changes(all: false).fields.keys == ["b", "c", "later"])
    }

    @Test func `R-054: a parent that was set during a save stays set`() throws {
        let record = try fetched([], parent: "p")
        record["a"] = 1
        let changes = try record.changes(all: false)
        record.setParent(CKRecord.ID(recordName: "mine", zoneID: record.recordID.zoneID))
        record.apply(try fetched([Field("a", .int64(1))], tag: [7], parent: "theirs"), savedBy: changes)
        #expect(record.parent?.recordID.recordName == "mine")
        #expect(record.ancestor().parent?.recordID.recordName == "theirs")
        #expect(try record.changes(all: false).parent == .set(recordName: "mine"))
    }

    @Test func `R-054, R-073: files of one's own stay where they are, those of others must be fetched`() throws {
        func content(_ byte: UInt8) -> FieldAsset {
            FieldAsset(sha256: Array(repeating: byte, count: 32), byteCount: 5)
        }
        let record = try fetched([Field("old", .asset(content(1))), Field("replaced", .asset(content(1)))])
        record.place([content(1): [URL(fileURLWithPath: "/tmp/1"), URL(fileURLWithPath: "/tmp/2")]])
        let file = CKAsset(fileURL: URL(fileURLWithPath: "/tmp/mine"))
        record["mine"] = file
        record["mines"] = [file]
        let changes = try record.changes(all: false, assets: [ObjectIdentifier(file): content(2)])
        let server = try fetched(
            [
                Field("mine", .asset(content(2))), Field("mines", .assets([content(2)])),
                Field("old", .asset(content(1))), Field("replaced", .asset(content(3))),
            ], tag: [7])
        record.apply(server, savedBy: changes)
        #expect(record["mine"] as? CKAsset === file && (record["mines"] as? [CKAsset])?.first === file)
        #expect((record["old"] as? CKAsset)?.fileURL?.path == "/tmp/1")
        #expect((record["replaced"] as? CKAsset)?.fileURL == nil)
        let all = try record.changes(all: true, assets: [ObjectIdentifier(file): content(2)])
        #expect(all.fields == server.originalFields)
    }

    @Test func `R-054, R-094: a copy that may lack what the server has keeps its tag`() throws {
        let record = try fetched([Field("a", .int64(1))])
        record["a"] = 2
        let changes = try record.changes(all: false)
        record["b"] = 3
        record.apply(nil, savedBy: changes)
        #expect(record.changeTag == [1] && record.changedKeys() == ["b"])
        #expect(record["a"] as? Int == 2 && record.ancestor()["a"] as? Int == 2)
    }

    @Test func `R-055: a record fetched with some keys sends no others`() throws {
        let record = try fetched([Field("a", .int64(1))])
        #expect(try record.changes(all: true).fields.keys == ["a"])
    }

    @Test func `R-094, R-113: the ancestor is the record as it was fetched`() throws {
        let record = try fetched([Field("a", .int64(1)), Field("b", .string("x"))])
        record["a"] = 2
        record["b"] = nil
        record["c"] = 3
        let ancestor = record.ancestor()
        #expect(ancestor !== record)
        #expect(ancestor.recordID == record.recordID && ancestor.recordChangeTag == record.recordChangeTag)
        #expect(ancestor["a"] as? Int == 1 && ancestor["b"] as? String == "x" && ancestor["c"] == nil)
        #expect(ancestor.changedKeys().isEmpty)
        ancestor["a"] = 5
        #expect(record["a"] as? Int == 2)
    }

    @Test func `R-092, R-113: without fetched fields the ancestor has none`() {
        let record = CKRecord(recordType: "T")
        record["a"] = 1
        #expect(record.ancestor().allKeys().isEmpty)
        #expect(record.ancestor().recordID == record.recordID)
        #expect(record.ancestor().recordChangeTag == nil)
    }

    @Test func `R-052: a copy is independent`() throws {
        let record = try fetched([Field("a", .int64(1))])
        record["b"] = 2
        let copy = try #require(record.copy() as? CKRecord)
        #expect(copy.recordID == record.recordID && copy.recordChangeTag == record.recordChangeTag)
        #expect(copy["a"] as? Int == 1 && copy.changedKeys() == ["b"])
        copy["a"] = 5
        record["c"] = 6
        #expect(record["a"] as? Int == 1 && record.changedKeys() == ["b", "c"])
        #expect(copy["c"] == nil && copy.changedKeys() == ["a", "b"])
        #expect(copy.ancestor()["a"] as? Int == 1)
    }

    @Test func `R-076: a reference in its zone is sent without the zone, another with it`() throws {
        let record = try fetched([])
        let zone = record.recordID.zoneID
        record["near"] = CKRecord.Reference(recordID: CKRecord.ID(recordName: "x", zoneID: zone), action: .deleteSelf)
        record["far"] = CKRecord.Reference(recordID: CKRecord.ID(recordName: "y"), action: .none)
        let fields = try record.changes(all: false).fields
        #expect(try fields["near"]?.value() == .reference(FieldReference(recordName: "x", action: .deleteSelf)))
        #expect(
            try fields["far"]?.value()
                == .reference(
                    FieldReference(
                        recordName: "y", zone: .init(name: "_defaultZone", ownerName: CKCurrentUserDefaultName))))
        let seen = CKRecord(
            recordID: CKRecord.ID(recordName: "r", zoneID: CKRecordZone.ID(zoneName: "Z", ownerName: "_owner")),
            recordType: "T", fields: fields, metadata: ServerMetadata(tag: [1], createdAt: 0, modifiedAt: 0))
        #expect((seen["near"] as? CKRecord.Reference)?.recordID.zoneID.ownerName == "_owner")
    }

    @Test func `R-080: a parent in another zone or with another action is an invalid argument`() throws {
        let zone = CKRecordZone.ID(zoneName: "Z")
        for parent in [
            CKRecord.Reference(recordID: CKRecord.ID(recordName: "p"), action: .none),
            CKRecord.Reference(recordID: CKRecord.ID(recordName: "p", zoneID: zone), action: .deleteSelf),
        ] {
            let record = try fetched([])
            record.parent = parent
            #expect(throws: CKError.self) { try record.changes(all: false) }
        }
    }

    @Test func `R-070, R-072: an asset is saved as what is in its file, and comes back without one`() throws {
        let content = FieldAsset(sha256: Array(repeating: 3, count: 32), byteCount: 5)
        let asset = CKAsset(fileURL: URL(fileURLWithPath: "/tmp/x"))
        let record = CKRecord(recordType: "T")
        record["file"] = asset
        record["files"] = [asset]
        #expect(throws: CKError.self) { try record.changes(all: false) }
        #expect(record.sentAssets(all: false).map(ObjectIdentifier.init) == Array(repeating: .init(asset), count: 2))
        let changes = try record.changes(all: false, assets: [ObjectIdentifier(asset): content])
        #expect(
            try changes.fields == FieldMap([Field("file", .asset(content)), Field("files", .assets([content]))]))
        let fetched = CKRecord(
            recordID: record.recordID, recordType: "T", fields: changes.fields,
            metadata: ServerMetadata(tag: [1], createdAt: 0, modifiedAt: 0))
        #expect(fetched.serverAssets == [content])
        #expect((fetched["file"] as? CKAsset)?.fileURL == nil)
        // What came from there need not be read again to be saved as it is.
        #expect(try fetched.changes(all: true).fields == changes.fields)
        let downloaded = CKRecord(
            recordID: record.recordID, recordType: "T", fields: changes.fields,
            metadata: ServerMetadata(tag: [1], createdAt: 0, modifiedAt: 0))
        downloaded.place([content: [URL(fileURLWithPath: "/tmp/staged")]])
        #expect((downloaded["file"] as? CKAsset)?.fileURL?.path == "/tmp/staged")
        #expect((downloaded["files"] as? [CKAsset])?.first?.fileURL?.path == "/tmp/staged")
    }

    @Test func `R-075: a location comes back whole`() throws {
        let location = CLLocation(
            coordinate: CLLocationCoordinate2D(latitude: 52.5, longitude: -13.25), altitude: 34,
            horizontalAccuracy: 5, verticalAccuracy: 6, course: 7, speed: 8,
            timestamp: Date(timeIntervalSince1970: -1.25))
        let record = CKRecord(recordType: "T")
        record["here"] = location
        record["places"] = [location]
        let back = CKRecord(
            recordID: record.recordID, recordType: "T", fields: try record.changes(all: false).fields,
            metadata: ServerMetadata(tag: [1], createdAt: 0, modifiedAt: 0))
        #expect(back["here"] as? CLLocation == location)
        #expect(back["places"] as? [CLLocation] == [location])
    }

    @Test func `a location knows how far another is`() {
        let berlin = CLLocation(latitude: 52.52, longitude: 13.405)
        let paris = CLLocation(latitude: 48.8566, longitude: 2.3522)
        #expect(abs(berlin.distance(from: paris) - 877_500) < 2_000)
        #expect(berlin.distance(from: berlin) == 0)
        let half = Double.pi * 6_371_008.8
        #expect(
            abs(CLLocation(latitude: 0, longitude: 0).distance(from: CLLocation(latitude: 0, longitude: 180)) - half)
                < 1)
        #expect(CLLocationCoordinate2DIsValid(berlin.coordinate))
        #expect(!CLLocationCoordinate2DIsValid(kCLLocationCoordinate2DInvalid))
    }
}
