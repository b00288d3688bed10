// SPDX-License-Identifier: Apache-2.0

import CloudKit
import Testing

/// One use of each symbol of Tests/API.md, sections CKRecordZone and CKServerChangeToken, in that order.
@Suite struct CKRecordZoneAPITests {
    @Test func `R-022, R-024, R-026, R-035: CKRecordZone`() throws {
        let standard: CKRecordZone = CKRecordZone.default()
        let named = CKRecordZone(zoneName: "Z")
        let zone = CKRecordZone(zoneID: named.zoneID)
        #expect(standard.zoneID == CKRecordZone.ID.default && zone.zoneID == named.zoneID)
        let capabilities: CKRecordZone.Capabilities = zone.capabilities
        let share: CKRecord.Reference? = zone.share
        #expect(capabilities.isEmpty && share == nil)
        zone.encryptionScope = .perZone
        #expect(zone.encryptionScope == CKRecordZone.EncryptionScope.perZone)
        #expect([CKRecordZone.EncryptionScope.perRecord, .perZone].map(\.rawValue) == [0, 1])
        let all: [CKRecordZone.Capabilities] = [.fetchChanges, .atomic, .sharing, .zoneWideSharing]
        #expect(all.map(\.rawValue) == [1, 2, 4, 8] && CKRecordZone.Capabilities(rawValue: 3).contains(.atomic))
        #expect(try archived(zone).zoneID == zone.zoneID && (zone.copy() as? CKRecordZone)?.zoneID == zone.zoneID)
        let _: any Sendable = zone
    }

    @Test func `R-020, R-021: CKRecordZone.ID`() throws {
        let ids = [
            CKRecordZone.ID(), CKRecordZone.ID(zoneName: "Z"), CKRecordZone.ID(zoneName: "Z", ownerName: "_o"),
            CKRecordZone.ID(zoneName: "Z", ownerName: CKCurrentUserDefaultName),
        ]
        #expect(Set(ids).count == 3 && ids[0] == CKRecordZone.ID.default)
        #expect(ids[0].zoneName == CKRecordZone.ID.defaultZoneName && ids[2].ownerName == "_o")
        #expect(CKRecordZone.ID.defaultZoneName == "_defaultZone")
        #expect(try archived(ids[2]) == ids[2] && (ids[2].copy() as? CKRecordZone.ID) == ids[2])
        let _: any Sendable = ids[0]
    }

    @available(*, deprecated, message: "uses what is deprecated")
    @Test func `R-021: what zones were named with before`() {
        let owner: String? = CKOwnerDefaultName
        #expect(owner == CKCurrentUserDefaultName)
        #expect(CKRecordZone.ID(zoneName: "Z", ownerName: owner) == CKRecordZone.ID(zoneName: "Z"))
        #expect(CKRecordZone.ID(zoneName: "Z", ownerName: nil).ownerName == CKCurrentUserDefaultName)
    }

    /// Servers make tokens; what an app does with them is compiled here, and run in the tests with a server.
    func token(_ token: CKServerChangeToken) throws {
        let _: any (NSSecureCoding & NSCopying & Sendable) = token
        let data = try NSKeyedArchiver.archivedData(withRootObject: token, requiringSecureCoding: true)
        let back: CKServerChangeToken? = try NSKeyedUnarchiver.unarchivedObject(
            ofClass: CKServerChangeToken.self, from: data)
        _ = back == token && back?.hash == token.hash
    }

    @Test func `R-201: an archive that is no token gives none`() throws {
        let data = try NSKeyedArchiver.archivedData(withRootObject: "text" as NSString, requiringSecureCoding: true)
        let token = try? NSKeyedUnarchiver.unarchivedObject(ofClass: CKServerChangeToken.self, from: data)
        #expect(token == nil)
        #expect(CKServerChangeToken.supportsSecureCoding)
    }
}
