// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// The record of a share: what is shared, with whom, and what they may do.
///
/// Save it in the private database, as any record: it shares from then on. To delete it ends the share for everybody;
/// the records stay. A participant who deletes it in the shared database leaves.
///
/// ``init(recordZoneID:)`` shares a whole zone, ``init(rootRecord:)`` one record with all that is below it by `parent`. A
/// record is in one share at most: otherwise the save fails with `alreadyShared`. Older servers share whole zones
/// only, and refuse the other share with `serverRejectedRequest`.
///
/// A save compares tags with any policy, unless only fields have changed. So a device that has not fetched an
/// invitation or removal cannot undo it.
public class CKShare: CKRecord, @unchecked Sendable {
    private let sharing: Locked<ShareState>

    /// A share of a record with its descendants, with a new name in its zone. All else is as for
    /// ``init(rootRecord:shareID:)``.
    public convenience init(rootRecord: CKRecord) {
        let name = "Share-" + UUID().uuidString
        self.init(rootRecord: rootRecord, shareID: CKRecord.ID(recordName: name, zoneID: rootRecord.recordID.zoneID))
    }

    /// A share of a record with its descendants. The record's `share` is set at once. Save both in one request: either
    /// both are saved, or neither is. Later the share is saved alone.
    ///
    /// The save fails with `invalidArguments` if the share is in another zone than the record.
    public init(rootRecord: CKRecord, shareID: CKRecord.ID) {
        var state = ShareState(ownerName: CKCurrentUserDefaultName)
        // A share in another zone has no root, so that the server refuses it.
        if rootRecord.recordID.zoneID == shareID.zoneID { state.rootName = rootRecord.recordID.recordName }
        sharing = Locked(state)
        super.init(recordType: SystemType.share, recordID: shareID, state: RecordContents())
        rootRecord.state.withLock { $0.setShare(CKRecord.Reference(recordID: shareID, action: .none)) }
    }

    /// The same as ``init(rootRecord:shareID:)``, by its older name.
    public convenience init(rootRecord: CKRecord, share shareID: CKRecord.ID) {
        self.init(rootRecord: rootRecord, shareID: shareID)
    }

    /// A share of a whole zone.
    public convenience init(recordZoneID: CKRecordZone.ID) {
        self.init(
            recordID: CKRecord.ID(recordName: CKRecordNameZoneWideShare, zoneID: recordZoneID), state: RecordContents())
    }

    /// A share from a server.
    ///
    /// - Parameter sharing: nil if it is not known who takes part. A share that the server has cannot be saved then.
    init(recordID: CKRecord.ID, state: RecordContents, sharing: ShareState? = nil) {
        var fresh = ShareState(ownerName: state.metadata?.createdBy ?? CKCurrentUserDefaultName)
        fresh.isUnknown = state.metadata != nil
        self.sharing = Locked(sharing ?? fresh)
        super.init(recordType: SystemType.share, recordID: recordID, state: state)
    }

    /// The permission of everybody who has the URL; default `none`.
    ///
    /// Setting `readOnly` or `readWrite` removes those who have not accepted yet. Setting `none` removes everybody but
    /// the owner.
    public var publicPermission: CKShare.ParticipantPermission {
        get { sharing.withLock { $0.publicPermission } }
        set { sharing.withLock { $0.setPublicPermission(newValue) } }
    }

    /// The URL by which others find the share; nil until it is saved. It stays the same if the zone is shared again
    ///
    ///
    /// An invited person passes it to ``CKContainer/shareMetadata(for:)``. If the share is public, anybody may do so.
    /// The URL names this app's server. Apps send the text after the last slash to their own server, and never connect
    /// to the URL.
    public var url: URL? { sharing.withLock { $0.url } }

    /// The URL of a participant who was made by ``CKShareParticipant/oneTimeURLParticipant()``: one person uses it once.
    ///
    /// It exists once the share is saved, for its owner and administrators. It does not change while the participant is in the share.
    /// Removing the participant makes it void. A person who has accepted with it may use it like ``url``. For everybody else there is then
    /// no such share.
    public func oneTimeURL(for participantID: CKShare.Participant.ID) -> URL? {
        participants.first { $0.participantID == participantID }?.oneTimeURL
    }

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

    /// Removes a participant. The owner stays. A person who is not in the share is not removed: in CloudKit that is an exception. The
    /// object may then be added to another share.
    public func removeParticipant(_ participant: CKShare.Participant) {
        sharing.withLock { $0.remove(participant, from: recordID) }
    }

    // MARK: Requests for access

    /// Whether somebody with ``url`` who is not invited may ask for access; default false. Only the owner and
    /// administrators know it, and the following properties.
    public var allowsAccessRequests: Bool {
        get { sharing.withLock { $0.access.isAllowed } }
        set { sharing.withLock { $0.access.isAllowed = newValue } }
    }

    /// Those who have asked for access and wait, in the order in which they came. A request is a change of the share: the
    /// engine brings it as any other.
    ///
    /// To approve one, look the person up by its `participantLookupInfo`, add them as a participant, and save the share. They then accept
    /// like everybody who is invited.
    public var requesters: [CKShare.AccessRequester] { sharing.withLock { $0.access.requesters } }

    /// People who may no longer ask for access.
    public var blockedIdentities: [CKShare.BlockedIdentity] { sharing.withLock { $0.access.blocked } }

    /// Refuses requests. The people who made them are not told, and may ask again. Save the share afterwards.
    ///
    /// Where only the owner or an administrator may do it, CloudKit raises an exception for others. Here the save fails with
    /// `permissionFailure`.
    public func denyRequesters(_ requesters: [CKShare.AccessRequester]) {
        sharing.withLock { $0.access.deny(requesters) }
    }

    /// Refuses requests, and all later requests of these users. If they already take part, they are removed. Save the share afterwards. For
    /// a blocked user there is no such share, whatever link they use. That ends when they are unblocked or invited by their user record
    ///
    public func blockRequesters(_ requesters: [CKShare.AccessRequester]) {
        sharing.withLock { $0.block(requesters) }
    }

    /// Lets users ask again. Save the share afterwards.
    public func unblockIdentities(_ blockedIdentities: [CKShare.BlockedIdentity]) {
        sharing.withLock { $0.access.unblock(blockedIdentities) }
    }

    /// The record that is shared together with everything below it; nil for a whole zone.
    var rootID: CKRecord.ID? {
        sharing.withLock { $0.rootName }.map { CKRecord.ID(recordName: $0, zoneID: recordID.zoneID) }
    }

    // MARK: Saving

    /// The data that a save sends beside the fields.
    ///
    /// - Throws: `invalidArguments` or `tooManyParticipants` for what no share may have, and
    ///   `invalidArguments` if it is not known who takes part.
    func edit() throws(CKError) -> ShareEdit {
        let (edit, mistake) = sharing.withLock { ($0.edit, $0.mistake(in: recordID)) }
        if let mistake { throw mistake }
        return edit
    }

    /// The server has saved the data that was sent.
    func saved(_ edit: ShareEdit) {
        sharing.withLock { $0.saved(edit) }
    }

    /// Takes over the server's share after a save of `edit`. Changes that the app has made since remain, and so do its
    /// participant objects.
    func follow(_ server: CKShare, savedBy edit: ShareEdit) {
        let theirs = server.sharing.withLock { $0.copied }
        sharing.withLock { $0.follow(theirs, after: edit.terms) }
    }

    /// Makes the changes of another copy of the share, relative to the server's version that the copy knew. They must still be saved.
    func takeChanges(of copy: CKShare) {
        var changed = copy.sharing.withLock { $0.copied }
        let before = changed.original ?? ShareTerms(publicPermission: .none, participants: [])
        sharing.withLock { server in
            changed.rebase(onto: server, after: before)
            server = changed
        }
    }

    /// Whether a save would send anything about the share, beside its fields.
    var hasSharingChanges: Bool { sharing.withLock { $0.edit.isChange } }

    /// The share as the server has it, with these contents.
    func ancestor(_ state: RecordContents) -> CKShare {
        CKShare(recordID: recordID, state: state, sharing: sharing.withLock { $0.ancestor(of: recordID) })
    }

    // MARK: NSSecureCoding, NSCopying

    /// A share from an archive. If the archive holds none, a share without a root in the default zone, which no server
    /// accepts.
    public required init(coder aDecoder: NSCoder) {
        let archived = RecordArchive.decode(from: aDecoder)
        let state = archived?.state ?? RecordContents()
        sharing = Locked(
            ShareState(
                coder: aDecoder, ownerName: state.metadata?.createdBy ?? CKCurrentUserDefaultName,
                isSaved: state.metadata != nil))
        super.init(recordType: SystemType.share, recordID: archived?.recordID ?? CKRecord.ID(), state: state)
    }

    /// Writes the share with its fields and participants.
    public override func encode(with coder: NSCoder) {
        super.encode(with: coder)
        sharing.withLock { $0 }.encode(with: coder, of: recordID)
    }

    /// Writes what the server knows of the share, with participants but without fields.
    public override func encodeSystemFields(with coder: NSCoder) {
        super.encodeSystemFields(with: coder)
        sharing.withLock { $0 }.encode(with: coder, of: recordID)
    }

    /// An independent share with the same ID, tag, fields and changes, and copies of the participants.
    public override func copy(with zone: NSZone? = nil) -> Any { copied() }

    override func copied() -> CKRecord {
        CKShare(recordID: recordID, state: state.withLock { $0 }, sharing: sharing.withLock { $0.copied })
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
        /// The kind of the shared thing: a uniform type identifier.
        public static let shareType: CKRecord.FieldKey = "cloudkit.type"
    }
}
