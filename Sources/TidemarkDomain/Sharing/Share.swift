// SPDX-License-Identifier: Apache-2.0

/// The number of a share: the change number of its zone at which it was first saved. It is unique in the zone's
/// incarnation. If an owner stops sharing and shares again, the new share has another number.
package struct ShareNumber: Hashable, Comparable, Sendable {
    package let rawValue: ChangeNumber
    package init(_ rawValue: ChangeNumber) { self.rawValue = rawValue }
    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// The stored data of a share beside its CKShare record. The record has the fields.
package struct Share: Hashable, Sendable {
    /// The record type of CKShare records.
    package static let recordType = "cloudkit.share"
    /// The name of the CKShare record that shares a whole zone.
    package static let zoneWideName = "cloudkit.zoneshare"

    package let number: ShareNumber
    /// The name of the CKShare record.
    package let recordName: String
    /// The name of the root record of the hierarchy that is shared; nil: the whole zone is.
    package let rootName: String?
    /// The secret of the URL of a hierarchy's share. The secret of a whole zone's share is
    /// ``ZoneSharing/secret``.
    package var rootSecret: [UInt8]?
    /// The permission of everybody with the URL.
    package var publicPermission: SharePermission
    /// Whether somebody with the URL who is not invited may ask for access.
    package var allowsRequests: Bool
    /// The number of the change that ended the share; nil while it lives. The rows of its participants do not change
    /// then: they grant nothing any more.
    package var endedNumber: ChangeNumber?

    package init(
        number: ShareNumber, recordName: String = Share.zoneWideName, rootName: String? = nil,
        rootSecret: [UInt8]? = nil, publicPermission: SharePermission = .noAccess, allowsRequests: Bool = false,
        endedNumber: ChangeNumber? = nil
    ) {
        self.number = number
        self.recordName = recordName
        self.rootName = rootName
        self.rootSecret = rootSecret
        self.publicPermission = publicPermission
        self.allowsRequests = allowsRequests
        self.endedNumber = endedNumber
    }

    // NB: these two are called for every item of a request. For nearly all of them, comparing the length is enough.

    /// Whether a record of that name is the CKShare record of a whole zone, and can be nothing else.
    package static func isZoneWide(named name: String) -> Bool {
        name.utf8.count == zoneWideName.utf8.count && name == zoneWideName
    }

    /// Whether records of that type are CKShare records.
    package static func isType(_ type: String) -> Bool {
        type.utf8.count == recordType.utf8.count && type == recordType
    }

    package var isLiving: Bool { endedNumber == nil }
    /// Whether it shares a hierarchy, and not the whole zone.
    package var isOfHierarchy: Bool { rootName != nil }
    /// Whether everybody with the URL may join.
    package var isPublic: Bool { publicPermission != .noAccess }
}

/// The permission of a participant, or of everybody with a share's URL. Raw values are CloudKit's, and
/// stored.
package enum SharePermission: Int16, Sendable, CaseIterable {
    /// CloudKit's `none`.
    ///
    /// NB: not called `none`, because that is also a case of every optional.
    case noAccess = 1
    case readOnly = 2
    case readWrite = 3

    /// The same for a record that the share covers.
    package var permissions: Permissions {
        switch self {
        case .noAccess: []
        case .readOnly: .read
        case .readWrite: .all
        }
    }
}
