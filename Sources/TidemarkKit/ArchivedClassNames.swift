// SPDX-License-Identifier: Apache-2.0

internal import Foundation

// At run time CloudKit's nested classes are called CKRecordID, CKReference and so on, and so are ours. The archives
// that apps keep name these classes differently, and those names must never change. The classes here have those names.
// Objects never belong to these classes. They tell an archiver which name to write, and an unarchiver which class a
// name stands for.
//
// NB: Not private, because `NSClassFromString` does not find private classes. A class that overrides only the required
// initializer gets a stub for each other initializer that it could override. A release build warns of those stubs.

final class _CKRecordZoneID: CKRecordZoneID, @unchecked Sendable {
    override init(unchecked zoneName: String, ownerName: String) {
        super.init(unchecked: zoneName, ownerName: ownerName)
    }

    required init?(coder: NSCoder) { super.init(coder: coder) }
}

final class _CKShareParticipant: CKShareParticipant, @unchecked Sendable {
    override init(
        _ identity: CKUserIdentity, role: CKShare.ParticipantRole, permission: CKShare.ParticipantPermission,
        acceptanceStatus: CKShare.ParticipantAcceptanceStatus, id: ID
    ) {
        super.init(identity, role: role, permission: permission, acceptanceStatus: acceptanceStatus, id: id)
    }

    required init?(coder: NSCoder) { super.init(coder: coder) }
}

final class _CKUserIdentityLookupInfo: CKUserIdentityLookupInfo, @unchecked Sendable {
    required init?(coder: NSCoder) { super.init(coder: coder) }
}

final class _CKShareMetadata: CKShareMetadata, @unchecked Sendable {
    override init(_ content: Content) { super.init(content) }

    required init?(coder: NSCoder) { super.init(coder: coder) }
}

final class _CKRecordID: CKRecordID, @unchecked Sendable {
    required init?(coder: NSCoder) { super.init(coder: coder) }
}

final class _CKRecordReference: CKReference, @unchecked Sendable {
    required init?(coder: NSCoder) { super.init(coder: coder) }
}

final class _CKZoneChangesConfiguration: CKFetchRecordZoneChangesConfiguration, @unchecked Sendable {
    required init?(coder: NSCoder) { super.init(coder: coder) }
}

final class _CKQueryCursor: CKQueryCursor, @unchecked Sendable {
    required init?(coder: NSCoder) { super.init(coder: coder) }
}

final class _CKNotificationID: CKNotificationID, @unchecked Sendable {
    required init?(coder: NSCoder) { super.init(coder: coder) }
}

final class _CKNotificationInfo: CKNotificationInfo, @unchecked Sendable {
    required init?(coder: NSCoder) { super.init(coder: coder) }
}
