// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkBytes
import TidemarkDomain
import TidemarkFields
import TidemarkTranslation
import TidemarkWire

@Suite struct QueryPushTranslationTests {
    private static func subscription(_ change: (inout WireNotificationInfo) -> Void) -> Subscription {
        var info = WireNotificationInfo()
        change(&info)
        return Subscription(
            id: "s", scope: .public, kind: .query, recordType: "Item", notificationInfo: info.encoded)
    }

    private static func record() throws -> RecordState {
        RecordState(
            name: "r", type: "Item",
            fields: try FieldMap([Field("count", .int64(7)), Field("text", .string("hello"))]), changeNumber: 1,
            isDeleted: false, parent: nil, createdAt: Timestamp(milliseconds: 1), createdBy: UserID(1),
            createdByDevice: .nobody, modifiedAt: Timestamp(milliseconds: 1), modifiedBy: UserID(1), batchEnd: 1)
    }

    private static let place = QueryNotification.Record(name: "r", zoneName: "_defaultZone")

    @Test func `R-255: a push says what happened to which record, with the fields that were asked for`() throws {
        let subscription = Self.subscription {
            $0.desiredKeys = ["text", "missing"]
            $0.titleLocalizationKey = "TITLE"
            $0.titleLocalizationArgs = ["count"]
            $0.collapseIDKey = "text"
            $0.soundName = "ping"
        }
        let rows: [(QueryReason, WireQueryNewsReason)] = [
            (.created, .recordCreated), (.updated, .recordUpdated), (.deleted, .recordDeleted),
        ]
        for (reason, wire) in rows {
            let push = WirePush(subscription, reason: reason, of: Self.place, version: try Self.record())
            #expect(push.subscriptionID == "s" && push.database == .public && push.kind == .query)
            #expect(push.query.reason == wire && push.query.recordName == "r" && push.query.zone.name == "_defaultZone")
            #expect(push.query.zone.owner.isEmpty && push.zones.isEmpty && !push.isPruned)
            let fields = try FieldMap(validating: push.query.fields, limits: .standard, keys: .app)
            #expect(fields.keys == (reason == .deleted ? [] : ["text"]))
            #expect(push.alert.titleLocalizationArgs == ["7"] && push.alert.collapseIDKey == "hello")
            #expect(push.alert.desiredKeys.isEmpty && push.alert.soundName == "ping")
        }
    }

    @Test func `R-250: a silent subscription has a push without an alert`() throws {
        let push = WirePush(
            Self.subscription { $0.shouldSendContentAvailable = true }, reason: .created, of: Self.place,
            version: try Self.record())
        #expect(!push.hasAlert && push.hasQuery && !push.isPruned)
    }

    @Test func `R-253: that records may have changed is a silent push, and names none`() {
        let subscription = Self.subscription { $0.alertBody = "News" }
        let push = WirePush(subscription, reason: nil, of: nil, version: nil)
        #expect(push.isPruned && !push.hasQuery && !push.hasAlert)
    }

    @Test func `R-256: a notification info that cannot be read makes a silent push`() {
        let broken = Subscription(
            id: "s", scope: .private, kind: .query, recordType: "Item", notificationInfo: [0xFF])
        let push = WirePush(broken, reason: .created, of: Self.place, version: nil)
        #expect(push.query.recordName == "r" && !push.hasAlert && !push.isPruned)
    }
}
