// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import TidemarkKit

@Suite struct CKRecordZoneTests {
    @Test func `R-020, R-021: a zone ID is its two names as given`() {
        let plain = CKRecordZone.ID(zoneName: "A")
        #expect(plain.ownerName == CKCurrentUserDefaultName && CKCurrentUserDefaultName == "__defaultOwner__")
        #expect(plain == CKRecordZone.ID(zoneName: "A", ownerName: CKCurrentUserDefaultName))
        #expect(plain != CKRecordZone.ID(zoneName: "a"))
        #expect(plain != CKRecordZone.ID(zoneName: "A", ownerName: "_me"))
        #expect(CKRecordZone.ID.default.zoneName == "_defaultZone")
        #expect(CKRecordZone.ID() == .default && CKRecordZone.ID.defaultZoneName == "_defaultZone")
        #expect(Set([plain, CKRecordZone.ID(zoneName: "A"), .default]).count == 2)
        #expect(CKRecordZone.default().zoneID == .default)
    }

    @Test(arguments: [
        ("A", true), ("a b~", true), ("_defaultZone", true), ("", false), ("_a", false), ("é", false), ("a\n", false),
        (String(repeating: "z", count: 255), true), (String(repeating: "z", count: 256), false),
    ])
    func `R-020: which zone names are possible`(name: String, isPossible: Bool) {
        #expect(CKRecordZone.ID.isPossible(zoneName: name) == isPossible)
    }

    @Test func `R-040: a record ID is its name and zone, a new name each time`() {
        let zone = CKRecordZone.ID(zoneName: "Z")
        let id = CKRecord.ID(recordName: "r", zoneID: zone)
        #expect(id == CKRecord.ID(recordName: "r", zoneID: CKRecordZone.ID(zoneName: "Z")))
        #expect(id.hashValue == CKRecord.ID(recordName: "r", zoneID: zone).hashValue)
        #expect(id != CKRecord.ID(recordName: "r") && id != CKRecord.ID(recordName: "s", zoneID: zone))
        #expect(CKRecord.ID(recordName: "r").zoneID == .default)
        #expect(CKRecord.ID() != CKRecord.ID())
        #expect(UUID(uuidString: CKRecord.ID().recordName) != nil)
        #expect([id: 1][CKRecord.ID(recordName: "r", zoneID: zone)] == 1)
        #expect(id.copy() as? CKRecord.ID === id)
        #expect(AnyHashable(id) == AnyHashable(CKRecord.ID(recordName: "r", zoneID: zone)))
    }

    @Test func `R-076: references are equal when target and action are`() {
        let id = CKRecord.ID(recordName: "r")
        let reference = CKRecord.Reference(recordID: id, action: .none)
        #expect(reference == CKRecord.Reference(record: CKRecord(recordType: "T", recordID: id), action: .none))
        #expect(reference != CKRecord.Reference(recordID: id, action: .deleteSelf))
        #expect(CKRecord.ReferenceAction.none.rawValue == 0 && CKRecord.ReferenceAction.deleteSelf.rawValue == 1)
    }

    @Test func `R-024, R-026: a zone's capabilities are bits, none before it is saved`() {
        #expect(CKRecordZone(zoneName: "Z").capabilities.isEmpty)
        let all: CKRecordZone.Capabilities = [.fetchChanges, .atomic, .sharing, .zoneWideSharing]
        #expect(all.rawValue == 15 && CKRecordZone.Capabilities.atomic.rawValue == 2)
        #expect(CKRecordZone(zoneName: "Z") == CKRecordZone(zoneID: CKRecordZone.ID(zoneName: "Z"), capabilities: all))
        #expect(CKRecordZone(zoneName: "Z") != CKRecordZone(zoneName: "Y"))
    }

    @Test func `R-004, R-350: raw values`() {
        #expect(CKDatabase.Scope.public.rawValue == 1 && CKDatabase.Scope.private.rawValue == 2)
        #expect(CKDatabase.Scope(rawValue: 3) == .shared && CKDatabase.Scope(rawValue: 4) == nil)
        #expect(CKAccountStatus.temporarilyUnavailable.rawValue == 4 && CKAccountStatus.noAccount.rawValue == 3)
        #expect(CKRecord.SystemType.share == "cloudkit.share" && CKRecord.SystemType.userRecord == "Users")
    }

    @Test func `R-201, R-205, R-209: what feeds report can be compared`() {
        let zone = CKRecordZone.ID(zoneName: "Z")
        #expect(CKDatabase.DatabaseChange.Modification(zoneID: zone) == .init(zoneID: CKRecordZone.ID(zoneName: "Z")))
        let deletion = CKDatabase.DatabaseChange.Deletion(zoneID: zone, reason: .purged)
        #expect(deletion != .init(zoneID: zone, reason: .deleted))
        #expect(Set([deletion, deletion]).count == 1)
        let record = CKRecord(recordType: "T")
        #expect(CKDatabase.RecordZoneChange.Modification(record: record) == .init(record: record))
        let gone = CKDatabase.RecordZoneChange.Deletion(recordID: record.recordID, recordType: "T")
        #expect(gone != .init(recordID: record.recordID, recordType: "U"))
        #expect(CKServerChangeToken(bytes: [1]) == CKServerChangeToken(bytes: [1]))
        #expect(CKServerChangeToken(bytes: [1]) != CKServerChangeToken(bytes: [2]))
    }
}
