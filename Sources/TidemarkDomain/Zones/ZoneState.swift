// SPDX-License-Identifier: Apache-2.0

/// A zone as it is stored: one row an incarnation.
package struct ZoneState: Sendable, Equatable {
    package let id: ZoneID
    package let key: ZoneKey
    package let createdAt: Timestamp
    package var encryptionScope = ZoneEncryptionScope.perRecord
    /// The number of the newest change in the zone; 0 in a new one.
    package var changeNumber: ChangeNumber
    /// Tokens below it are expired: tombstones up to here may be gone.
    package var oldestTokenNumber: ChangeNumber
    /// Set when this incarnation is gone; its row stays until every feed has told of it.
    package var removal: ZoneRemovalReason?

    package init(
        id: ZoneID, key: ZoneKey, createdAt: Timestamp, changeNumber: ChangeNumber = 0,
        oldestTokenNumber: ChangeNumber = 0, removal: ZoneRemovalReason? = nil
    ) {
        self.id = id
        self.key = key
        self.createdAt = createdAt
        self.changeNumber = changeNumber
        self.oldestTokenNumber = oldestTokenNumber
        self.removal = removal
    }
}

/// Whether records are encrypted one by one or with their zone. Raw values are stored.
package enum ZoneEncryptionScope: Int16, Sendable {
    case perRecord = 0
    case perZone = 1
}

/// Why a zone is gone. Raw values are stored.
package enum ZoneRemovalReason: Int16, Sendable {
    case deleted = 0
    case purged = 1
    case encryptedDataReset = 2
}
