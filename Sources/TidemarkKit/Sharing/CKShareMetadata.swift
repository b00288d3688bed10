// SPDX-License-Identifier: Apache-2.0

public import Foundation

extension CKShare {
    /// The data of a share that its URL reveals.
    public typealias Metadata = CKShareMetadata
}

// NB: Not nested in CKShare, for the reason given for `CKRecord.Reference`.

/// The data of a share that its URL reveals. Use its name `CKShare.Metadata`.
///
/// Servers make it. Two are equal if they belong to the same share.
public class CKShareMetadata: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
    /// The values of the metadata.
    package struct Content {
        package var containerIdentifier: String
        package var share: CKShare
        package var hierarchicalRootRecordID: CKRecord.ID?
        package var rootRecord: CKRecord?
        package var participantRole: CKShare.ParticipantRole
        package var participantStatus: CKShare.ParticipantAcceptanceStatus
        package var participantPermission: CKShare.ParticipantPermission
        package var ownerIdentity: CKUserIdentity
        /// The link by which the metadata was requested.
        package var link = ""
        /// The keys that came in the URL's fragment.
        var keys: ZoneLinkKeys?
    }

    private let content: Content

    package init(_ content: Content) {
        self.content = content
        super.init()
    }

    /// The container whose records are shared.
    public var containerIdentifier: String { content.containerIdentifier }

    /// The share itself.
    public var share: CKShare { content.share }

    /// The record that is shared with its descendants; nil for a whole zone.
    public var hierarchicalRootRecordID: CKRecord.ID? { content.hierarchicalRootRecordID }

    /// The root, if it was requested. Always nil for a whole zone.
    public var rootRecord: CKRecord? { content.rootRecord }

    /// The role of the current user.
    public var participantRole: CKShare.ParticipantRole { content.participantRole }

    /// Whether the current user has accepted.
    public var participantStatus: CKShare.ParticipantAcceptanceStatus { content.participantStatus }

    /// The current user's permission.
    public var participantPermission: CKShare.ParticipantPermission { content.participantPermission }

    /// The owner of the share.
    public var ownerIdentity: CKUserIdentity { content.ownerIdentity }

    /// The root of the share; for a whole zone the ID of the share's record.
    @available(*, deprecated, renamed: "hierarchicalRootRecordID")
    public var rootRecordID: CKRecord.ID { content.hierarchicalRootRecordID ?? content.share.recordID }

    /// The role of the current user.
    @available(*, deprecated, renamed: "participantRole")
    public var participantType: CKShare.ParticipantType {
        CKShare.ParticipantType(rawValue: participantRole.rawValue) ?? .unknown
    }

    /// The link by which a server finds the share; nil if it is not known.
    var link: String? { content.link.isEmpty ? share.url.flatMap(ShareURLs.link) : content.link }

    /// Keys of the zone's encrypted values, if the URL had some.
    var keys: ZoneLinkKeys? { content.keys }

    // MARK: NSSecureCoding, NSCopying

    /// The name of the class in archives, which never changes.
    public override var classForKeyedArchiver: AnyClass? { _CKShareMetadata.self }

    /// The class for objects of that name in archives.
    public override class func classForKeyedUnarchiver() -> AnyClass { CKShareMetadata.self }

    /// True.
    public class var supportsSecureCoding: Bool { true }

    /// Nil if the archive does not hold metadata.
    public required init?(coder: NSCoder) {
        guard let container = coder.optionalString(forKey: "ContainerIdentifier"),
            let share = coder.optionalObject(of: CKShare.self, forKey: "Share"),
            let owner = coder.optionalObject(of: CKUserIdentity.self, forKey: "OwnerIdentity")
        else { return nil }
        func number(_ key: String) -> Int { coder.optionalInt64(forKey: key).flatMap { Int(exactly: $0) } ?? 0 }
        content = Content(
            containerIdentifier: container, share: share,
            hierarchicalRootRecordID: coder.optionalObject(of: CKRecord.ID.self, forKey: "RootRecordID"),
            rootRecord: coder.optionalObject(of: CKRecord.self, forKey: "RootRecord"),
            participantRole: CKShare.ParticipantRole(rawValue: number("Role")) ?? .unknown,
            participantStatus: CKShare.ParticipantAcceptanceStatus(rawValue: number("Status")) ?? .unknown,
            participantPermission: CKShare.ParticipantPermission(rawValue: number("Permission")) ?? .unknown,
            ownerIdentity: owner, link: coder.optionalString(forKey: "Link") ?? "",
            keys: coder.optionalString(forKey: "Keys").flatMap { try? ZoneLinkKeys(fragment: $0) })
        super.init()
    }

    /// Writes all of it, also keys from the URL. So keep such an archive as secret as the URL.
    public func encode(with coder: NSCoder) {
        coder.encode(string: containerIdentifier, forKey: "ContainerIdentifier")
        coder.encode(share, forKey: "Share")
        coder.encode(ownerIdentity, forKey: "OwnerIdentity")
        if let hierarchicalRootRecordID { coder.encode(hierarchicalRootRecordID, forKey: "RootRecordID") }
        if let rootRecord { coder.encode(rootRecord, forKey: "RootRecord") }
        coder.encode(string: content.link, forKey: "Link")
        if let keys { coder.encode(string: keys.fragment, forKey: "Keys") }
        coder.encode(Int64(participantRole.rawValue), forKey: "Role")
        coder.encode(Int64(participantStatus.rawValue), forKey: "Status")
        coder.encode(Int64(participantPermission.rawValue), forKey: "Permission")
    }

    /// Metadata of the same share, with a share and a root of its own.
    public func copy(with zone: NSZone? = nil) -> Any {
        var copy = content
        copy.share = content.share.copied() as? CKShare ?? content.share
        copy.rootRecord = content.rootRecord?.copied()
        return CKShareMetadata(copy)
    }

    // MARK: NSObject

    /// Whether both belong to the same share.
    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CKShare.Metadata else { return false }
        return containerIdentifier == other.containerIdentifier && share.recordID == other.share.recordID
    }

    /// Equal for the same share.
    public override var hash: Int {
        var hasher = Hasher()
        hasher.combine(containerIdentifier)
        hasher.combine(share.recordID)
        return hasher.finalize()
    }

    /// For people to read.
    public override var description: String {
        "<CKShare.Metadata containerIdentifier=\(containerIdentifier) share=\(share.recordID)>"
    }
}
