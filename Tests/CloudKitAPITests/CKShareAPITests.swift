// SPDX-License-Identifier: Apache-2.0

import CloudKit
import Testing

/// One use of each symbol of Tests/API.md, section CKShare, as an app writes it, in that order.
@Suite struct CKShareAPITests {
    @Test func `R-300, R-301, R-307, R-312: CKShare`() throws {
        let zoneID = CKRecordZone.ID(zoneName: "Z")
        let root = CKRecord(recordType: "List", recordID: CKRecord.ID(recordName: "list", zoneID: zoneID))
        let share = CKShare(rootRecord: root)
        let record: CKRecord = share
        #expect(record.recordType == CKRecord.SystemType.share && root.share?.recordID == share.recordID)
        let named = CKShare(rootRecord: root, shareID: CKRecord.ID(recordName: "s", zoneID: zoneID))
        #expect(named.recordID.recordName == "s" && root.share?.recordID == named.recordID)
        let older = CKShare(rootRecord: root, share: CKRecord.ID(recordName: "t", zoneID: zoneID))
        #expect(older.recordID.recordName == "t" && root.share?.recordID == older.recordID)
        let zoneWide = CKShare(recordZoneID: zoneID)
        #expect(zoneWide.recordID.recordName == CKRecordNameZoneWideShare)
        let _: (NSCoder) -> CKShare = CKShare.init(coder:)
        #expect(share.publicPermission == CKShare.ParticipantPermission.none)
        share.publicPermission = .readOnly
        let url: URL? = share.url
        #expect(url == nil)
        let participants: [CKShare.Participant] = share.participants
        let owner: CKShare.Participant = share.owner
        let current: CKShare.Participant? = share.currentUserParticipant
        #expect(participants == [owner] && current === owner)
        share.addParticipant(owner)
        share.removeParticipant(owner)
        #expect(share.participants == [owner])
        share[CKShare.SystemFieldKey.title] = "Shopping"
        let keys = [
            CKShare.SystemFieldKey.title, CKShare.SystemFieldKey.thumbnailImageData, CKShare.SystemFieldKey.shareType,
        ]
        #expect(keys == ["cloudkit.title", "cloudkit.thumbnailImageData", "cloudkit.type"])
        let back = try archived(share)
        #expect(back.publicPermission == .readOnly && back[CKShare.SystemFieldKey.title] as? String == "Shopping")
        #expect(CKRecordNameZoneWideShare == "cloudkit.zoneshare")
    }

    @Test func `R-310: CKShare.Participant`() throws {
        let share = CKShare(recordZoneID: CKRecordZone.ID(zoneName: "Z"))
        let participant: CKShare.Participant = share.owner
        let identity: CKUserIdentity = participant.userIdentity
        #expect(identity.userRecordID?.recordName == CKCurrentUserDefaultName)
        let role: CKShare.ParticipantRole = participant.role
        let permission: CKShare.ParticipantPermission = participant.permission
        let status: CKShare.ParticipantAcceptanceStatus = participant.acceptanceStatus
        #expect(role == .owner && permission == .readWrite && status == .accepted)
        let id: CKShare.Participant.ID = participant.participantID
        #expect(!id.isEmpty)
        let copy = try #require(participant.copy() as? CKShare.Participant)
        copy.role = .privateUser
        copy.permission = .readOnly
        #expect(participant.role == .owner && participant.permission == .readWrite && copy == participant)
        #expect(try archived(copy).role == .privateUser)
        let statuses: [CKShare.ParticipantAcceptanceStatus] = [.unknown, .pending, .accepted, .removed]
        let permissions: [CKShare.ParticipantPermission] = [.unknown, .none, .readOnly, .readWrite]
        let roles: [CKShare.ParticipantRole] = [.unknown, .owner, .administrator, .privateUser, .publicUser]
        #expect(statuses.map(\.rawValue) == [0, 1, 2, 3] && permissions.map(\.rawValue) == [0, 1, 2, 3])
        #expect(roles.map(\.rawValue) == [0, 1, 2, 3, 4])
        #expect(participant.isEqual(copy) && !participant.isEqual(CKShare.Participant.oneTimeURLParticipant()))
        let somebody: CKShare.Participant = CKShare.Participant.oneTimeURLParticipant()
        let added: Date? = somebody.dateAddedToShare
        let url: URL? = CKShare(recordZoneID: CKRecordZone.ID(zoneName: "Z")).oneTimeURL(for: somebody.participantID)
        #expect(added == nil && url == nil && !somebody.isApprovedRequester)
        let _: any Sendable = participant
    }

    @Test func `R-972, R-974: requests for access`() {
        let share = CKShare(recordZoneID: CKRecordZone.ID(zoneName: "Z"))
        share.allowsAccessRequests = true
        let requesters: [CKShare.AccessRequester] = share.requesters
        let blocked: [CKShare.BlockedIdentity] = share.blockedIdentities
        share.denyRequesters(requesters)
        share.blockRequesters(requesters)
        share.unblockIdentities(blocked)
        #expect(share.allowsAccessRequests && requesters.isEmpty && blocked.isEmpty)
    }

    /// Servers make these; what an app does with them is compiled here.
    func requests(_ requester: CKShare.AccessRequester, _ blocked: CKShare.BlockedIdentity) {
        let _: [any (NSSecureCoding & NSCopying & Sendable & Hashable)] = [requester, blocked]
        let _: [CKUserIdentity] = [requester.userIdentity, blocked.userIdentity]
        let _: CKUserIdentity.LookupInfo = requester.participantLookupInfo
        let _: CKShareAccessRequester = requester
        let _: CKShareBlockedIdentity = blocked
    }

    @available(*, deprecated, message: "uses what is deprecated")
    @Test func `R-310: a participant's older names`() {
        let participant = CKShare(recordZoneID: CKRecordZone.ID(zoneName: "Z")).owner
        let type: CKShare.Participant.ParticipantType = participant.type
        let names:
            (
                CKShare.Participant.Role, CKShare.Participant.Permission, CKShare.Participant.AcceptanceStatus
            ) = (participant.role, participant.permission, participant.acceptanceStatus)
        #expect(type == .owner && names.0 == .owner)
        #expect(participant.userIdentity.contactIdentifiers.isEmpty)
    }

    @available(*, deprecated, message: "uses what is deprecated")
    func olderNames(of metadata: CKShare.Metadata) {
        let _: CKRecord.ID = metadata.rootRecordID
        let _: CKShare.ParticipantType = metadata.participantType
    }

    /// Servers make metadata; what an app does with it is compiled here.
    func metadata(_ metadata: CKShare.Metadata) throws {
        let _: any (NSSecureCoding & NSCopying & Sendable & Hashable) = metadata
        let _: String = metadata.containerIdentifier
        let _: CKShare = metadata.share
        let _: CKRecord.ID? = metadata.hierarchicalRootRecordID
        let _: CKRecord? = metadata.rootRecord
        let _: CKShare.ParticipantRole = metadata.participantRole
        let _: CKShare.ParticipantAcceptanceStatus = metadata.participantStatus
        let _: CKShare.ParticipantPermission = metadata.participantPermission
        let _: CKUserIdentity = metadata.ownerIdentity
    }

    @Test func `R-314: CKUserIdentity and CKUserIdentity.LookupInfo`() throws {
        let identity: CKUserIdentity = CKShare(recordZoneID: CKRecordZone.ID(zoneName: "Z")).owner.userIdentity
        let user: CKRecord.ID? = identity.userRecordID
        let lookup: CKUserIdentity.LookupInfo? = identity.lookupInfo
        let name: PersonNameComponents? = identity.nameComponents
        let hasAccount: Bool = identity.hasiCloudAccount
        #expect(user != nil && lookup == nil && name == nil && hasAccount)
        #expect(try archived(identity) == identity && (identity.copy() as? CKUserIdentity) == identity)

        let id = CKRecord.ID(recordName: "_user")
        let email = CKUserIdentity.LookupInfo(emailAddress: "a@example.org")
        let phone = CKUserIdentity.LookupInfo(phoneNumber: "+49301")
        let record = CKUserIdentity.LookupInfo(userRecordID: id)
        #expect(email.emailAddress == "a@example.org" && phone.phoneNumber == "+49301" && record.userRecordID == id)
        #expect(email.phoneNumber == nil && phone.userRecordID == nil && record.emailAddress == nil)
        #expect(CKUserIdentity.LookupInfo.lookupInfos(withEmails: ["a@example.org"]) == [email])
        #expect(CKUserIdentity.LookupInfo.lookupInfos(withPhoneNumbers: ["+49301"]) == [phone])
        #expect(CKUserIdentity.LookupInfo.lookupInfos(with: [id]) == [record])
        for info in [email, phone, record] {
            #expect(try archived(info) == info && (info.copy() as? CKUserIdentity.LookupInfo) == info)
        }
        #expect(!email.description.contains("example"), "who it is stays out of logs")
    }
}
