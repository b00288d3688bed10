// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkFields
import TidemarkWire

@testable import TidemarkKit

@Suite struct CKShareTests {
    private let zoneID = CKRecordZone.ID(zoneName: "Z")

    private func participant(
        _ name: String, _ status: CKShare.ParticipantAcceptanceStatus = .pending
    ) -> CKShare.Participant {
        CKShare.Participant(
            CKUserIdentity(userRecordID: CKRecord.ID(recordName: name), hasiCloudAccount: true),
            acceptanceStatus: status)
    }

    private func names(_ share: CKShare) -> [String?] {
        share.participants.map(\.userIdentity.userRecordID?.recordName)
    }

    /// Why the share cannot be sent; nil if it can.
    private func code(_ share: CKShare) -> CKError.Code? {
        do throws(CKError) {
            _ = try share.changes(all: true)
            return nil
        } catch { return error.code }
    }

    private func archived<Value: NSObject & NSSecureCoding>(_ value: Value) throws -> Value {
        let data = try NSKeyedArchiver.archivedData(withRootObject: value, requiringSecureCoding: true)
        return try #require(try NSKeyedUnarchiver.unarchivedObject(ofClass: Value.self, from: data))
    }

    @Test func `R-301: a share lies in its root's zone, and the root knows it, which is no change of a field`() {
        let root = CKRecord(recordType: "List", recordID: CKRecord.ID(recordName: "l", zoneID: zoneID))
        let share = CKShare(rootRecord: root)
        #expect(share.recordID.zoneID == zoneID && share.recordType == "cloudkit.share")
        #expect(root.share == CKRecord.Reference(recordID: share.recordID, action: .none))
        #expect(root.changedKeys().isEmpty && share.url == nil)
        #expect(CKShare(rootRecord: root).recordID != share.recordID)
    }

    @Test func `R-308: publicity removes who has not accepted, privacy everybody but the owner`() {
        let share = CKShare(recordZoneID: zoneID)
        share.addParticipant(participant("_pending"))
        share.addParticipant(participant("_accepted", .accepted))
        share.publicPermission = .none
        #expect(names(share) == [CKCurrentUserDefaultName, "_pending", "_accepted"], "nothing was changed")
        share.publicPermission = .readOnly
        #expect(names(share) == [CKCurrentUserDefaultName, "_accepted"])
        share.publicPermission = .readWrite
        #expect(names(share) == [CKCurrentUserDefaultName, "_accepted"])
        share.publicPermission = .none
        #expect(names(share) == [CKCurrentUserDefaultName])
        share.addParticipant(participant("_later"))
        #expect(names(share) == [CKCurrentUserDefaultName, "_later"])
    }

    @Test func `R-311, R-312: a known person is changed, a stranger added, the owner left alone`() {
        let share = CKShare(recordZoneID: zoneID)
        let first = participant("_a")
        share.addParticipant(first)
        let again = participant("_a")
        again.permission = .readWrite
        share.addParticipant(again)
        #expect(share.participants.count == 2 && first.permission == .readWrite)
        share.addParticipant(participant(CKCurrentUserDefaultName))
        share.removeParticipant(share.owner)
        #expect(share.participants.count == 2 && share.currentUserParticipant === share.owner)
        #expect(share.owner.role == .owner && share.owner.permission == .readWrite)
        share.removeParticipant(again)
        #expect(share.participants == [share.owner])
    }

    @Test func `R-309, R-311: what no share can have is not sent`() {
        let share = CKShare(recordZoneID: zoneID)
        #expect(code(share) == nil)
        let guest = participant("_a")
        share.addParticipant(guest)
        #expect(code(share) == nil)
        let other = CKShare(recordZoneID: CKRecordZone.ID(zoneName: "Other"))
        other.addParticipant(guest)
        #expect(code(other) == .invalidArguments, "of one share only")
        share.publicPermission = .readOnly
        share.addParticipant(participant("_b"))
        #expect(code(share) == .invalidArguments, "invited to a public share")
        share.publicPermission = .none
        for number in 1..<ShareState.participantCountMax { share.addParticipant(participant("_\(number)")) }
        #expect(share.participants.count == 100 && code(share) == nil)
        share.addParticipant(participant("_one more"))
        #expect(code(share) == .tooManyParticipants)
    }

    @Test func `R-050, R-051, R-331: a share survives an archive, and system fields keep participants`() throws {
        let share = CKShare(recordZoneID: zoneID)
        share[CKShare.SystemFieldKey.title] = "Shopping"
        share["colour"] = 3
        share.addParticipant(participant("_a"))
        let back = try archived(share)
        #expect(back.recordID == share.recordID && names(back) == names(share))
        #expect(back.owner == share.owner && back.changedKeys() == ["cloudkit.title", "colour"])
        #expect(back[CKShare.SystemFieldKey.title] as? String == "Shopping" && back["colour"] as? Int == 3)

        let archiver = NSKeyedArchiver(requiringSecureCoding: true)
        share.encodeSystemFields(with: archiver)
        archiver.finishEncoding()
        let unarchiver = try NSKeyedUnarchiver(forReadingFrom: archiver.encodedData)
        unarchiver.requiresSecureCoding = true
        let fields = CKShare(coder: unarchiver)
        unarchiver.finishDecoding()
        #expect(fields.recordID == share.recordID && fields.allKeys().isEmpty && names(fields) == names(share))
    }

    @Test func `R-049, R-306: an archive keeps the URL, and what of the share is still to be saved`() throws {
        let wire = WireRecord.share([.person(1, "_bob", .accepted), .person(2, "_carol")])
        let share = try #require(try CKRecord.make(wire, in: zoneID).get() as? CKShare)
        #expect(share.url?.lastPathComponent == "link" && !share.hasSharingChanges)
        let same = try archived(share)
        #expect(same.url == share.url && !same.hasSharingChanges && names(same) == names(share))
        share.removeParticipant(share.participants[2])
        share.participants[1].permission = .readWrite
        let changed = try archived(share)
        #expect(changed.hasSharingChanges && names(changed) == [CKCurrentUserDefaultName, "_bob"])
        let ancestor = try #require(changed.ancestor() as? CKShare)
        #expect(names(ancestor) == [CKCurrentUserDefaultName, "_bob", "_carol"] && !ancestor.hasSharingChanges)
        #expect(ancestor.participants[1].permission == .readOnly)
        #expect(ancestor.participants[1].acceptanceStatus == .accepted)
        #expect(try archived(CKShare(recordZoneID: zoneID)).hasSharingChanges, "never saved")
    }

    @Test func `R-310, R-312: a share shows whom the server shows, and numbers that are not known as unknown`() throws {
        var wire = WireRecord.share(owner: "_owner", [.person(1, "", .accepted), .person(2, "")])
        wire.share.publicPermission = .readWrite
        wire.share.participants[2].isCaller = false
        wire.share.participants[2].email = "c@example.org"
        wire.share.participants[2].role = .unrecognized(9)
        wire.share.participants[2].permission = .unrecognized(9)
        wire.share.participants[2].status = .unrecognized(9)
        wire.share.participants[2].id = [1]
        let share = try #require(try CKRecord.make(wire, in: zoneID).get() as? CKShare)
        #expect(share.publicPermission == .readWrite && share.owner.userIdentity.userRecordID?.recordName == "_owner")
        #expect(share.owner.role == .owner && share.owner.permission == .readWrite)
        #expect(share.owner.participantID == "00000000-0000-0000-0000-000000000000")
        let me = try #require(share.currentUserParticipant)
        #expect(me.participantID == "01010101-0101-0101-0101-010101010101" && me.acceptanceStatus == .accepted)
        let other = share.participants[2]
        #expect(other.role == .unknown && other.permission == .unknown && other.acceptanceStatus == .unknown)
        #expect(other.userIdentity.lookupInfo?.emailAddress == "c@example.org")
        #expect(other.userIdentity.userRecordID == nil)
        #expect(other.userIdentity.nameComponents == nil && !other.participantID.isEmpty)
    }

    @Test func `R-779: identities have the parts of a name that the server tells`() throws {
        var wire = WireRecord.share(owner: "_owner", [.person(1, "", .accepted), .person(2, "_c", .accepted)])
        (wire.share.participants[0].givenName, wire.share.participants[0].familyName) = ("Alice", "Liddell")
        wire.share.participants[1].familyName = "B"
        let share = try #require(try CKRecord.make(wire, in: zoneID).get() as? CKShare)
        for share in [share, try archived(share)] {
            let names = share.participants.map(\.userIdentity.nameComponents)
            #expect(names.map { $0?.givenName } == ["Alice", nil, nil])
            #expect(names.map { $0?.familyName } == ["Liddell", "B", nil])
            #expect(names[2] == nil && share.currentUserParticipant?.userIdentity.nameComponents == names[1])
        }
        #expect(!share.owner.userIdentity.description.contains("Alice"))
    }

    @Test func `R-052: a copy is independent, its participants too`() throws {
        let share = CKShare(recordZoneID: zoneID)
        share.addParticipant(participant("_a"))
        let copy = try #require(share.copy() as? CKShare)
        copy.participants[1].permission = .readWrite
        copy.publicPermission = .readOnly
        #expect(share.participants[1].permission == .readOnly && share.publicPermission == .none)
        #expect(share.participants.count == 2 && copy.participants.count == 1)
    }

    @Test func `R-555: a record of a share's type is a CKShare, its ancestor and its copies too`() throws {
        var wire = WireRecord.share(owner: "_owner")
        let record = try CKRecord.make(wire, in: zoneID).get()
        let share = try #require(record as? CKShare)
        #expect(share.owner.userIdentity.userRecordID?.recordName == "_owner" && share.currentUserParticipant == nil)
        #expect(record.ancestor() is CKShare && record.copy() is CKShare)
        wire.type = "Note"
        #expect(try !(CKRecord.make(wire, in: zoneID).get() is CKShare))
    }

    @Test func `R-219, R-300: a share that comes without its participants is no share of nobody`() throws {
        let wire = WireRecord.shareWithoutParticipants
        #expect(CKRecord.make(wire, in: zoneID).error?.code == .internalError)
        let metadata = ServerMetadata(tag: [1], createdAt: 0, modifiedAt: 0)
        let state = RecordContents(fields: FieldMap(), metadata: metadata, parentName: nil, share: nil, zoneID: zoneID)
        let id = CKRecord.ID(recordName: CKRecordNameZoneWideShare, zoneID: zoneID)
        let unknown = CKShare(recordID: id, state: state)
        for share in [unknown, unknown.copied() as? CKShare, try archived(unknown)] {
            let share = try #require(share)
            share["colour"] = 3
            #expect(!share.hasSharingChanges && code(share) == .invalidArguments, "its save would remove everybody")
        }
    }

    @Test func `R-310, R-315: participants and metadata survive an archive`() throws {
        var name = PersonNameComponents()
        name.givenName = "Ada"
        name.familyName = "L"
        let identity = CKUserIdentity(
            lookupInfo: CKUserIdentity.LookupInfo(emailAddress: "a@example.org"), nameComponents: name)
        let guest = CKShare.Participant(identity, role: .administrator, permission: .readWrite)
        let back = try archived(guest)
        #expect(back == guest && back.role == .administrator && back.permission == .readWrite)
        #expect(back.acceptanceStatus == .pending && back.userIdentity == identity)
        #expect(back.userIdentity.nameComponents?.givenName == "Ada" && !back.userIdentity.hasiCloudAccount)
        #expect(!guest.description.contains("example") && !identity.description.contains("example"))

        let metadata = CKShare.Metadata(
            .init(
                containerIdentifier: "iCloud.test", share: CKShare(recordZoneID: zoneID),
                hierarchicalRootRecordID: CKRecord.ID(recordName: "l", zoneID: zoneID), rootRecord: nil,
                participantRole: .privateUser, participantStatus: .pending, participantPermission: .readOnly,
                ownerIdentity: identity))
        let other = try archived(metadata)
        #expect(other == metadata && other.hash == metadata.hash && other.containerIdentifier == "iCloud.test")
        #expect(other.hierarchicalRootRecordID == metadata.hierarchicalRootRecordID && other.rootRecord == nil)
        #expect(other.participantRole == .privateUser && other.participantStatus == .pending)
        #expect(other.participantPermission == .readOnly && other.ownerIdentity == identity)
    }
}
