// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// The content of a push, and its form as the dictionary that an app receives.
package struct NotificationPayload: @unchecked Sendable {
    package var type: CKNotification.NotificationType
    package var notificationID: String?
    package var containerIdentifier: String?
    package var subscriptionID: CKSubscription.ID?
    package var subscriptionOwner: String?
    package var isPruned = false
    package var scope: CKDatabase.Scope
    package var zoneID: CKRecordZone.ID?
    package var recordName: String?
    package var reason: CKQueryNotification.Reason?
    /// Strings, numbers, dates, locations and references; absent for deletions.
    package var recordFields: [String: Any]?
    package var alert = NotificationAlert()
    /// The value by which later pushes of the subscription replace earlier ones. It is not in the dictionary.
    package var collapseID: String?

    package init(type: CKNotification.NotificationType, scope: CKDatabase.Scope) {
        self.type = type
        self.scope = scope
    }

    /// Nil if the dictionary is not ours.
    package init?(_ dictionary: [AnyHashable: Any]) {
        guard let body = dictionary["ck"] as? [AnyHashable: Any] else { return nil }
        let kinds: [(String, CKNotification.NotificationType)] = [
            ("qry", .query), ("fet", .recordZone), ("met", .database),
        ]
        guard let (key, type) = kinds.first(where: { body[$0.0] is [AnyHashable: Any] }),
            let part = body[key] as? [AnyHashable: Any],
            let scope = Self.number(part["dbs"]).flatMap(CKDatabase.Scope.init(rawValue:))
        else { return nil }
        self.init(type: type, scope: scope)
        notificationID = body["nid"] as? String
        containerIdentifier = body["cid"] as? String
        subscriptionOwner = body["ckuserid"] as? String
        isPruned = Self.number(body["p"]) == 1
        subscriptionID = part["sid"] as? String
        if let name = part["zid"] as? String {
            zoneID = CKRecordZone.ID(unchecked: name, ownerName: part["zoid"] as? String ?? CKCurrentUserDefaultName)
        }
        recordName = part["rid"] as? String
        reason = Self.number(part["fo"]).flatMap(CKQueryNotification.Reason.init(rawValue:))
        recordFields = part["af"] as? [String: Any]
        if let aps = dictionary["aps"] as? [AnyHashable: Any] { alert = NotificationAlert(aps: aps) }
    }

    package var dictionary: [AnyHashable: Any] {
        var part: [AnyHashable: Any] = ["dbs": scope.rawValue]
        part["sid"] = subscriptionID
        part["zid"] = zoneID?.zoneName
        part["zoid"] = zoneID?.ownerName
        part["rid"] = recordName
        part["fo"] = reason?.rawValue
        part["af"] = recordFields
        var body: [AnyHashable: Any] = ["ce": 2]
        body["nid"] = notificationID
        body["cid"] = containerIdentifier
        body["ckuserid"] = subscriptionOwner
        if isPruned { body["p"] = 1 }
        switch type {
        case .query: body["qry"] = part
        case .recordZone: body["fet"] = part
        case .database: body["met"] = part
        case .readNotification: break
        }
        return ["aps": alert.aps, "ck": body]
    }

    private static func number(_ value: Any?) -> Int? {
        (value as? NSNumber)?.intValue ?? value as? Int
    }
}
