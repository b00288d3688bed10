// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// The content of a push. Every instance is of a subclass.
public class CKNotification: NSObject, _CKNotificationFactory, @unchecked Sendable {
    /// The subject of a notification.
    public enum NotificationType: Int, Sendable {
        /// A record that matches a predicate.
        case query = 1
        /// A zone.
        case recordZone = 2
        /// Not used here.
        case readNotification = 3
        /// A database.
        case database = 4
    }

    let payload: NotificationPayload

    init(_ payload: NotificationPayload) {
        self.payload = payload
        super.init()
    }

    /// The subject of the notification.
    public var notificationType: NotificationType { payload.type }

    /// The notification's name.
    public var notificationID: CKNotification.ID? { payload.notificationID.map { CKNotification.ID($0) } }

    /// The container that changed.
    public var containerIdentifier: String? { payload.containerIdentifier }

    /// The subscription that fired.
    public var subscriptionID: CKSubscription.ID? { payload.subscriptionID }

    /// The owner of the subscription.
    public var subscriptionOwnerUserRecordID: CKRecord.ID? {
        payload.subscriptionOwner.map { CKRecord.ID(recordName: $0) }
    }

    /// Whether something was left out because it was too long.
    public var isPruned: Bool { payload.isPruned }
}

/// Lets an initializer of ``CKNotification`` create an instance of the right subclass for the push.
public protocol _CKNotificationFactory {}

extension _CKNotificationFactory where Self: CKNotification {
    /// The notification in the dictionary of a push: a ``CKQueryNotification``, a ``CKRecordZoneNotification`` or a
    /// ``CKDatabaseNotification``. Nil if the dictionary is not ours.
    public init?(fromRemoteNotificationDictionary notificationDictionary: [AnyHashable: Any]) {
        guard let payload = NotificationPayload(notificationDictionary) else { return nil }
        let notification: CKNotification? =
            switch payload.type {
            case .query: CKQueryNotification(payload)
            case .recordZone: CKRecordZoneNotification(payload)
            case .database: CKDatabaseNotification(payload)
            case .readNotification: nil
            }
        guard let notification = notification as? Self else { return nil }
        self = notification
    }
}

/// Something changed in a database.
public class CKDatabaseNotification: CKNotification, @unchecked Sendable {
    /// The database that changed.
    public var databaseScope: CKDatabase.Scope { payload.scope }
}

/// Something changed in a zone.
public class CKRecordZoneNotification: CKNotification, @unchecked Sendable {
    /// The zone that changed.
    public var recordZoneID: CKRecordZone.ID? { payload.zoneID }

    /// The database of the zone.
    public var databaseScope: CKDatabase.Scope { payload.scope }
}

/// A record that matches a subscription's predicate changed.
public class CKQueryNotification: CKNotification, @unchecked Sendable {
    /// The change of the record.
    public enum Reason: Int, Sendable {
        /// It was created.
        case recordCreated = 1
        /// It was changed.
        case recordUpdated = 2
        /// It was deleted.
        case recordDeleted = 3
    }

    /// The change of the record.
    public var queryNotificationReason: CKQueryNotification.Reason { payload.reason ?? .recordUpdated }

    /// The fields that the subscription asked for; nil for a deletion.
    public var recordFields: [String: Any]? { payload.recordFields }

    /// The record that changed.
    public var recordID: CKRecord.ID? {
        payload.recordName.map { CKRecord.ID(recordName: $0, zoneID: payload.zoneID ?? .default) }
    }

    /// The database of the record.
    public var databaseScope: CKDatabase.Scope { payload.scope }
}
