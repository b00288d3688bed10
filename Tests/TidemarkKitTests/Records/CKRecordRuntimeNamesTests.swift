// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import TidemarkKit

/// How classes are called at run time: as CloudKit's are, in dumps and logs, and in archives as they always were.
@Suite struct CKRecordRuntimeNamesTests {
    private static let zoneID = CKRecordZone.ID(zoneName: "Notes")
    private static let recordID = CKRecord.ID(recordName: "n", zoneID: zoneID)

    typealias Row = (object: any NSObject & NSSecureCoding, name: String, archived: String)

    nonisolated(unsafe) static let objects: [Row] = [
        (zoneID, "CKRecordZoneID", "_CKRecordZoneID"), (recordID, "CKRecordID", "_CKRecordID"),
        (CKRecord.Reference(recordID: recordID, action: .deleteSelf), "CKReference", "_CKRecordReference"),
        (CKUserIdentity.LookupInfo(emailAddress: "a@b"), "CKUserIdentityLookupInfo", "_CKUserIdentityLookupInfo"),
        (CKSubscription.NotificationInfo(), "CKNotificationInfo", "_CKNotificationInfo"),
        (
            CKFetchRecordZoneChangesOperation.ZoneConfiguration(), "CKFetchRecordZoneChangesConfiguration",
            "_CKZoneChangesConfiguration"
        ),
    ]

    @Test(arguments: objects.indices)
    func `R-050: nested classes are called as CloudKit's, and archives call them as ever`(index: Int) throws {
        let (object, name, archived) = Self.objects[index]
        #expect(String(describing: type(of: object)) == name)
        var dumped = ""
        dump(object, to: &dumped)
        print(object, object.debugDescription, to: &dumped)
        #expect(!dumped.contains("_CK"), "\(dumped)")
        let data = try NSKeyedArchiver.archivedData(withRootObject: object, requiringSecureCoding: true)
        #expect(try Self.classNames(in: data).contains("TidemarkKit.\(archived)"))
        #expect(try Self.classNames(in: data).allSatisfy { $0 != "TidemarkKit.\(name)" })
        // As they were written before the classes had these names.
        for data in [data, try Self.renamed(data)] {
            let back = try #require(
                try NSKeyedUnarchiver.unarchivedObject(ofClasses: [type(of: object) as AnyClass], from: data)
                    as? NSObject)
            #expect(String(describing: type(of: back)) == name)
            #expect(back.isEqual(object) || name.hasSuffix("Configuration") || name.hasSuffix("Info"))
        }
    }

    @Test func `R-050: records with references are archived and read as ever`() throws {
        let record = CKRecord(recordType: "Note", recordID: Self.recordID)
        record["to"] = CKRecord.Reference(recordID: Self.recordID, action: .deleteSelf)
        record.parent = CKRecord.Reference(recordID: Self.recordID, action: .none)
        let data = try NSKeyedArchiver.archivedData(withRootObject: record, requiringSecureCoding: true)
        for data in [data, try Self.renamed(data)] {
            let back = try #require(try NSKeyedUnarchiver.unarchivedObject(ofClass: CKRecord.self, from: data))
            #expect(back.recordID == Self.recordID && back["to"] as? CKRecord.Reference == record["to"])
            #expect(String(describing: type(of: back.recordID)) == "CKRecordID")
        }
    }

    private static func plist(_ data: Data) throws -> [String: Any] {
        try #require(try PropertyListSerialization.propertyList(from: data, format: nil) as? [String: Any])
    }

    private static func classNames(in data: Data) throws -> [String] {
        let objects = try #require(try plist(data)["$objects"] as? [Any])
        return objects.compactMap { ($0 as? [String: Any])?["$classname"] as? String }
    }

    /// The same archive as a library wrote it whose classes had their archives' names: without a class above them.
    private static func renamed(_ data: Data) throws -> Data {
        var plist = try plist(data)
        let objects = try #require(plist["$objects"] as? [Any])
        plist["$objects"] = objects.map { object -> Any in
            guard var entry = object as? [String: Any], let names = entry["$classes"] as? [String],
                names[0].hasPrefix("TidemarkKit._CK")
            else { return object }
            entry["$classes"] = [names[0], "NSObject"]
            return entry
        }
        return try PropertyListSerialization.data(fromPropertyList: plist, format: .binary, options: 0)
    }
}
