// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkFields
import TidemarkWire

@testable import TidemarkKit

/// What an app reads in the push of a server.
@Suite struct NotificationPayloadPushTests {
    private static func push(
        _ reason: WireQueryNewsReason, in scope: WireDatabaseScope = .private, fields: [UInt8] = []
    ) -> WirePush {
        var push = WirePush()
        (push.subscriptionID, push.database, push.kind) = ("q", scope, .query)
        push.query.reason = reason
        push.query.recordName = "r"
        (push.query.zone.name, push.query.zone.owner) = ("Z", "")
        push.query.fields = fields
        return push
    }

    private static func notification(_ push: WirePush) throws -> CKNotification {
        let payload = try #require(NotificationPayload(push))
        return try #require(CKNotification(fromRemoteNotificationDictionary: payload.dictionary))
    }

    private static func query(_ push: WirePush) throws -> CKQueryNotification {
        try #require(try notification(push) as? CKQueryNotification)
    }

    @Test(arguments: [
        (WireQueryNewsReason.recordCreated, CKQueryNotification.Reason.recordCreated), (.recordUpdated, .recordUpdated),
        (.recordDeleted, .recordDeleted), (.unspecified, .recordUpdated),
    ])
    func `R-245, R-255: the reason and the record`(wire: WireQueryNewsReason, reason: CKQueryNotification.Reason) throws
    {
        for (scope, expected) in [(WireDatabaseScope.private, CKDatabase.Scope.private), (.public, .public)] {
            let query = try Self.query(Self.push(wire, in: scope))
            #expect(query.queryNotificationReason == reason && query.databaseScope == expected)
            #expect(query.recordID == CKRecord.ID(recordName: "r", zoneID: CKRecordZone.ID(zoneName: "Z")))
            #expect(query.subscriptionID == "q" && query.notificationType == .query && !query.isPruned)
        }
    }

    @Test func `R-251, R-255: fields have the types that apps give them`() throws {
        let date = FieldDate(milliseconds: 1_700_000_000_250)
        let place = FieldLocation(
            latitude: 1.5, longitude: -2, altitude: 0, horizontalAccuracy: 0, verticalAccuracy: 0, course: 0, speed: 0,
            timestamp: date)
        let fields = try FieldMap([
            Field("text", .string("a \u{1F600}")), Field("count", .int64(7)), Field("share", .double(0.5)),
            Field("when", .date(date)), Field("place", .location(place)),
            Field("other", .reference(FieldReference(recordName: "t", action: .none))),
            // These are none that a subscription may ask for.
            Field("list", .strings(["a"])), Field("secret", .bytes([1]), isEncrypted: true),
        ])
        let found = try #require(try Self.query(Self.push(.recordUpdated, fields: fields.bytes)).recordFields)
        #expect(found.count == 6)
        #expect(found["text"] as? String == "a \u{1F600}" && found["count"] as? Int == 7)
        #expect(found["share"] as? Double == 0.5)
        #expect((found["when"] as? Date)?.timeIntervalSinceReferenceDate == date.secondsSince2001)
        let location = found["place"] as? CLLocation
        #expect(location?.coordinate.latitude == 1.5 && location?.coordinate.longitude == -2)
        let target = CKRecord.ID(recordName: "t", zoneID: CKRecordZone.ID(zoneName: "Z"))
        #expect((found["other"] as? CKRecord.Reference)?.recordID == target)
    }

    @Test func `R-258: a deletion has no fields, whatever the server sends`() throws {
        let fields = try FieldMap([Field("text", .string("a"))]).bytes
        #expect(try Self.query(Self.push(.recordCreated, fields: fields)).recordFields?["text"] as? String == "a")
        #expect(try Self.query(Self.push(.recordDeleted, fields: fields)).recordFields == nil)
        #expect(try Self.query(Self.push(.recordCreated)).recordFields == nil)
    }

    @Test func `R-256: what was left out is missing, and the notification says so`() throws {
        var push = Self.push(.recordUpdated)
        push.isPruned = true
        #expect(try Self.query(push).isPruned && Self.query(push).recordID != nil)
        push.query = WireQueryNews()
        let bare = try Self.query(push)
        #expect(bare.isPruned && bare.recordID == nil && bare.recordFields == nil)
        // A server that does not know what happened sends no record.
        push.isPruned = false
        #expect(try Self.query(push).isPruned)
        #expect(try Self.query(Self.push(.recordUpdated, fields: [0xFF])).isPruned, "fields that cannot be read")
    }

    @Test func `R-241, R-334: zone and database notifications of each database`() throws {
        var push = WirePush()
        (push.subscriptionID, push.database, push.kind) = ("all", .shared, .database)
        let shared = try #require(try Self.notification(push) as? CKDatabaseNotification)
        #expect(shared.databaseScope == .shared && !shared.isPruned)
        (push.database, push.kind) = (.private, .recordZone)
        var zone = WireZoneID()
        zone.name = "Z"
        push.zones = [zone]
        let ofZone = try #require(try Self.notification(push) as? CKRecordZoneNotification)
        #expect(ofZone.databaseScope == .private && ofZone.recordZoneID?.zoneName == "Z")
    }

    @Test func `R-254: a database or a kind of a later version is passed over`() {
        var push = Self.push(.recordUpdated)
        push.database = WireDatabaseScope(rawValue: 9)
        #expect(NotificationPayload(push) == nil)
        (push.database, push.kind) = (.private, WireSubscriptionKind(rawValue: 9))
        #expect(NotificationPayload(push) == nil)
        push.kind = .unspecified
        #expect(NotificationPayload(push) == nil)
    }

    @Test func `R-250: a push is silent unless it shows something`() throws {
        var push = Self.push(.recordUpdated)
        func aps() throws -> [AnyHashable: Any] {
            let payload = try #require(NotificationPayload(push))
            return try #require(payload.dictionary["aps"] as? [AnyHashable: Any])
        }
        #expect(try aps().count == 1 && aps()["content-available"] as? Int == 1)
        push.alert.alertBody = "news"
        #expect(try aps()["content-available"] == nil)
        #expect(try (aps()["alert"] as? [AnyHashable: Any])?["body"] as? String == "news")
        push.alert.shouldSendContentAvailable = true
        #expect(try aps()["content-available"] as? Int == 1)
    }
}
