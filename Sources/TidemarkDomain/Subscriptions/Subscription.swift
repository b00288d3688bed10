// SPDX-License-Identifier: Apache-2.0

/// A user's subscription to changes in one of their databases.
package struct Subscription: Sendable, Equatable {
    package let id: String
    package let scope: DatabaseScope
    package let kind: Kind
    /// If set, only changes of this record type count.
    package let recordType: String?
    /// The zone of a zone subscription; nil for other kinds.
    package let zoneName: String?
    /// The client's notification info. The server stores it unread.
    package let notificationInfo: [UInt8]

    /// CloudKit's kinds of subscriptions. The raw value is stored.
    package enum Kind: Int16, Sendable {
        case query = 1
        case recordZone = 2
        case database = 3
    }

    package init(
        id: String, scope: DatabaseScope, kind: Kind, recordType: String?, zoneName: String? = nil,
        notificationInfo: [UInt8]
    ) {
        self.id = id
        self.scope = scope
        self.kind = kind
        self.recordType = recordType
        self.zoneName = zoneName
        self.notificationInfo = notificationInfo
    }
}
