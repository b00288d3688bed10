// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TidemarkFields
internal import TidemarkWire

extension NotificationPayload {
    /// The contents of a server's push. Nil for a database or a kind that this version does not know.
    init?(_ push: WirePush) {
        guard let scope = CKDatabase.Scope(push.database) else { return nil }
        switch push.kind {
        case .database: self.init(type: .database, scope: scope)
        case .recordZone:
            self.init(type: .recordZone, scope: scope)
            zoneID = push.zones.first.map(CKRecordZone.ID.init)
        case .query:
            self.init(type: .query, scope: scope)
            take(push.query)
            // Without a record anything may have changed.
            if recordName == nil { isPruned = true }
        default: return nil
        }
        subscriptionID = push.subscriptionID
        if push.isPruned { isPruned = true }
        guard push.hasAlert else { return }
        alert = NotificationAlert(push.alert)
        if !push.alert.collapseIDKey.isEmpty { collapseID = push.alert.collapseIDKey }
    }

    private mutating func take(_ news: WireQueryNews) {
        reason = CKQueryNotification.Reason(rawValue: Int(news.reason.rawValue))
        if !news.recordName.isEmpty {
            recordName = news.recordName
            zoneID = CKRecordZone.ID(news.zone)
        }
        guard reason != .recordDeleted, !news.fields.isEmpty else { return }
        if let fields = try? FieldMap(validating: news.fields, keys: .share) {
            recordFields = Self.objects(of: fields, in: zoneID ?? .default)
        } else {
            isPruned = true
        }
    }

    /// The kinds of values that a push may have.
    private static func objects(of fields: FieldMap, in zoneID: CKRecordZone.ID) -> [String: Any]? {
        var objects: [String: Any] = [:]
        for entry in fields where !entry.isEncrypted {
            switch try? entry.value() {
            case .string(let text)?: objects[entry.key] = text
            case .date(let date)?: objects[entry.key] = Date(timeIntervalSinceReferenceDate: date.secondsSince2001)
            case .int64?, .double?, .reference?, .location?:
                objects[entry.key] = (try? entry.value()).flatMap { FieldObjects.object(of: $0, zoneID: zoneID) }
            default: break
            }
        }
        return objects.isEmpty ? nil : objects
    }

    /// Something may have changed that the subscription covers. It is silent.
    init(_ subscription: CKSubscription, in scope: CKDatabase.Scope) {
        let type: CKNotification.NotificationType =
            switch subscription.subscriptionType {
            case .query: .query
            case .recordZone: .recordZone
            case .database: .database
            }
        self.init(type: type, scope: scope)
        subscriptionID = subscription.subscriptionID
        zoneID = (subscription as? CKRecordZoneSubscription)?.zoneID
        isPruned = type == .query
    }

    /// The same push without the record and its change, and silent.
    var withoutContent: NotificationPayload {
        var bare = NotificationPayload(type: type, scope: scope)
        bare.subscriptionID = subscriptionID
        bare.isPruned = type == .query
        if type != .query { bare.zoneID = zoneID }
        return bare
    }

    func isOfSameSubscription(_ other: NotificationPayload) -> Bool {
        other.subscriptionID == subscriptionID && other.scope == scope
    }
}

extension CKDatabase.Scope {
    /// Nil for what this version does not know.
    fileprivate init?(_ wire: WireDatabaseScope) {
        switch wire {
        case .public: self = .public
        case .private: self = .private
        case .shared: self = .shared
        case .unspecified, .unrecognized: return nil
        }
    }
}
