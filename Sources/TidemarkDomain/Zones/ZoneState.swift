// SPDX-License-Identifier: Apache-2.0

/// A zone as it is stored: one row for each incarnation.
package struct ZoneState: Sendable, Equatable {
    package let id: ZoneID
    package let key: ZoneKey
    package let createdAt: Timestamp
    package var encryptionScope = ZoneEncryptionScope.perRecord
    /// The number of the newest change in the zone; 0 in a new one.
    package var changeNumber: ChangeNumber
    /// Tokens below it are expired, because tombstones up to it may be gone.
    package var oldestTokenNumber: ChangeNumber
    /// Why this incarnation is gone; nil if it lives. Its row stays until every feed has reported the end.
    package var removal: ZoneRemovalReason?
    /// Whether it is shared. Only reads of a database's zones say so.
    package var isShared = false
    /// Whether hierarchies of it are shared: then the shares of its records are read with them.
    ///
    /// It ends with the last share. This is also right for later readers with an older token or an older copy:
    /// - Stored data of ended shares has no meaning, and no later share has the number of one of them. So none of it must be kept right
    ///   while the value is false. A later share covers everything below its root again.
    /// - A participant of an ended share takes no part: for them the zone does not exist, whatever the token is. The tokens of their feed
    ///   name the parts for which they were given (``ShareAccess/viewMark``). Parts in a later share are others, and a part in the whole
    ///   zone has no mark. So such a token is expired, and nothing between is missed.
    /// - The owner's tokens are of the zone's numbers alone. A root has a new version once its share has ended.
    /// - A server reads it with the row that it locks, or in the statement that reads the records. It caches no zones where the value is
    ///   true.
    package var hasHierarchies = false

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

/// Whether keys encrypt single records or a whole zone. Raw values are stored.
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
