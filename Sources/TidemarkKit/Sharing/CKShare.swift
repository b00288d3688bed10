// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// The record of a share: what is shared, with whom, and what they may do.
///
/// Servers of this version have no sharing. An app that uses shares compiles, and everything local works as with
/// CloudKit. But saving a share fails with `serverRejectedRequest`, and so does every call that asks a server about
/// shares.
public class CKShare: CKRecord, @unchecked Sendable {
    private let sharing: Locked<ShareState>

    /// A share of a record with its descendants, with a new name in its zone.
    public convenience init(rootRecord: CKRecord) {
        let name = "Share-" + UUID().uuidString
        self.init(rootRecord: rootRecord, shareID: CKRecord.ID(recordName: name, zoneID: rootRecord.recordID.zoneID))
    }

    /// A share of a record with its descendants. The record's `share` is set at once. Save both in one request.
    public init(rootRecord: CKRecord, shareID: CKRecord.ID) {
        sharing = Locked(ShareState(ownerName: CKCurrentUserDefaultName))
        super.init(recordType: SystemType.share, recordID: shareID, state: RecordContents())
        rootRecord.state.withLock { $0.share = CKRecord.Reference(recordID: shareID, action: .none) }
    }

    /// A share of a whole zone.
    public convenience init(recordZoneID: CKRecordZone.ID) {
        self.init(
            recordID: CKRecord.ID(recordName: CKRecordNameZoneWideShare, zoneID: recordZoneID), state: RecordContents())
    }

    /// A share from a server. Until servers send participants, it has only its owner.
    init(recordID: CKRecord.ID, state: RecordContents) {
        sharing = Locked(ShareState(ownerName: state.metadata?.createdBy ?? CKCurrentUserDefaultName))
        super.init(recordType: SystemType.share, recordID: recordID, state: state)
    }

    private init(recordID: CKRecord.ID, state: RecordContents, sharing: ShareState) {
        self.sharing = Locked(sharing)
        super.init(recordType: SystemType.share, recordID: recordID, state: state)
    }

    /// What everybody who has the URL may do; default `none`.
    ///
    /// Setting `readOnly` or `readWrite` removes those who have not accepted yet. Setting `none` removes everybody but
    /// the owner.
    public var publicPermission: CKShare.ParticipantPermission {
        get { sharing.withLock { $0.publicPermission } }
        set { sharing.withLock { $0.setPublicPermission(newValue) } }
    }

    /// The URL by which others find the share; nil until it is saved, so always nil with servers of this
    /// version.
    public var url: URL? { nil }

    /// The owner, then all other participants.
    public var participants: [CKShare.Participant] {
        sharing.withLock { [$0.owner] + $0.others }
    }

    /// The owner of the records.
    public var owner: CKShare.Participant { sharing.withLock { $0.owner } }

    /// The current user as one of the participants; nil if the user is not one of them.
    public var currentUserParticipant: CKShare.Participant? {
        participants.first { $0.userIdentity.userRecordID?.recordName == CKCurrentUserDefaultName }
    }

    /// Invites a person. For a person who takes part already, role and permission are changed; the owner does
    /// not change.
    ///
    /// Allowed only while `publicPermission` is `none`, and an object can belong to one share only.
    /// Otherwise the save fails with `invalidArguments`.
    public func addParticipant(_ participant: CKShare.Participant) {
        sharing.withLock { $0.add(participant, to: recordID) }
    }

    /// Removes a participant. The owner stays.
    public func removeParticipant(_ participant: CKShare.Participant) {
        sharing.withLock { $0.remove(participant) }
    }

    /// Why this share is not saved.
    var refusal: CKError {
        sharing.withLock { $0.mistake(in: recordID) } ?? .sharingUnavailable
    }

    // MARK: NSSecureCoding, NSCopying

    /// A share from an archive. If the archive holds none, a share without a root in the default zone, which no server
    /// accepts.
    public required init(coder aDecoder: NSCoder) {
        let archived = RecordArchive.decode(from: aDecoder)
        let state = archived?.state ?? RecordContents()
        sharing = Locked(
            ShareState(coder: aDecoder, ownerName: state.metadata?.createdBy ?? CKCurrentUserDefaultName))
        super.init(recordType: SystemType.share, recordID: archived?.recordID ?? CKRecord.ID(), state: state)
    }

    /// Writes the share with its fields and participants.
    public override func encode(with coder: NSCoder) {
        super.encode(with: coder)
        sharing.withLock { $0 }.encode(with: coder)
    }

    /// Writes what the server knows of the share, with participants but without fields.
    public override func encodeSystemFields(with coder: NSCoder) {
        super.encodeSystemFields(with: coder)
        sharing.withLock { $0 }.encode(with: coder)
    }

    /// An independent share with the same ID, tag, fields and changes, and copies of the participants.
    public override func copy(with zone: NSZone? = nil) -> Any { copied() }

    override func copied() -> CKRecord {
        CKShare(recordID: recordID, state: state.withLock { $0 }, sharing: sharing.withLock { $0 }.copied)
    }

    /// For people to read.
    public override var description: String {
        "<CKShare recordID=\(recordID) publicPermission=\(publicPermission) participants=\(participants.count)>"
    }
}

/// The name of the record that shares a whole zone.
public let CKRecordNameZoneWideShare = "cloudkit.zoneshare"

extension CKShare {
    /// Keys that the system shows to invited people.
    public enum SystemFieldKey {
        /// The title of the share: a string.
        public static let title: CKRecord.FieldKey = "cloudkit.title"
        /// A picture: data.
        public static let thumbnailImageData: CKRecord.FieldKey = "cloudkit.thumbnailImageData"
        /// What kind of thing is shared: a uniform type identifier.
        public static let shareType: CKRecord.FieldKey = "cloudkit.type"
    }
}
