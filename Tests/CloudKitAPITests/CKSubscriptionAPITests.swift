// SPDX-License-Identifier: Apache-2.0

import CloudKit
import Testing

/// One use of each symbol of Tests/API.md, sections CKSubscription family and CKNotification family, in that order.
@Suite struct CKSubscriptionAPITests {
    @Test func `R-240: CKDatabaseSubscription and CKRecordZoneSubscription`() throws {
        let database = CKDatabaseSubscription(subscriptionID: "all")
        let subscription: CKSubscription = database
        let id: CKSubscription.ID = subscription.subscriptionID
        #expect(id == "all" && subscription.subscriptionType == .database && subscription.notificationInfo == nil)
        let types: [CKSubscription.SubscriptionType] = [.query, .recordZone, .database]
        #expect(types.map(\.rawValue) == [1, 2, 3])
        subscription.notificationInfo = CKSubscription.NotificationInfo()
        database.recordType = "Note"
        #expect(try archived(database).recordType == "Note")
        #expect((database.copy() as? CKDatabaseSubscription)?.recordType == "Note")

        let zoneID = CKRecordZone.ID(zoneName: "Z")
        let zone = CKRecordZoneSubscription(zoneID: zoneID, subscriptionID: "zone")
        zone.recordType = nil
        #expect(zone.zoneID == zoneID && zone.subscriptionType == .recordZone)
        #expect(try archived(zone).zoneID == zoneID)
        let _: any Sendable = zone
    }

    @Test func `R-244: CKQuerySubscription`() throws {
        let predicate = NSPredicate(format: "text == %@", "a")
        let all = CKQuerySubscription(recordType: "Note", predicate: predicate, subscriptionID: "query")
        #expect(
            all.querySubscriptionOptions == [.firesOnRecordCreation, .firesOnRecordUpdate, .firesOnRecordDeletion])
        let once = CKQuerySubscription(
            recordType: "Note", predicate: predicate, subscriptionID: "once",
            options: [.firesOnRecordCreation, .firesOnce])
        once.zoneID = CKRecordZone.ID(zoneName: "Z")
        let type: CKRecord.RecordType? = once.recordType
        #expect(type == "Note" && once.predicate === predicate && once.zoneID?.zoneName == "Z" && all.zoneID == nil)
        #expect(once.subscriptionType == .query)
        let options: [CKQuerySubscription.Options] = [
            .firesOnRecordCreation, .firesOnRecordUpdate, .firesOnRecordDeletion, .firesOnce,
        ]
        #expect(options.map(\.rawValue) == [1, 2, 4, 8])
        for copy in [try archived(once), try #require(once.copy() as? CKQuerySubscription)] {
            #expect(copy.subscriptionID == "once" && copy.recordType == "Note" && copy.zoneID == once.zoneID)
            #expect(copy.querySubscriptionOptions == once.querySubscriptionOptions)
            #expect(copy.predicate.predicateFormat == predicate.predicateFormat)
        }
    }

    /// As `archived`, by the initializer itself.
    private func decoded<Value: NSObject & NSSecureCoding>(
        _ value: Value, _ make: (NSCoder) -> Value
    ) throws -> Value {
        let archiver = NSKeyedArchiver(requiringSecureCoding: true)
        value.encode(with: archiver)
        archiver.finishEncoding()
        return make(try NSKeyedUnarchiver(forReadingFrom: archiver.encodedData))
    }

    @Test func `R-240, R-244: subscriptions out of a coder`() throws {
        let database = CKDatabaseSubscription(subscriptionID: "all")
        #expect(try decoded(database) { CKDatabaseSubscription(coder: $0) }.subscriptionID == "all")
        let zone = CKRecordZoneSubscription(zoneID: CKRecordZone.ID(zoneName: "Z"), subscriptionID: "zone")
        #expect(try decoded(zone) { CKRecordZoneSubscription(coder: $0) }.zoneID == zone.zoneID)
        let query = CKQuerySubscription(
            recordType: "Note", predicate: NSPredicate(value: true), subscriptionID: "query",
            options: [.firesOnRecordUpdate])
        #expect(try decoded(query) { CKQuerySubscription(coder: $0) }.querySubscriptionOptions == .firesOnRecordUpdate)
    }

    @available(*, deprecated, message: "uses what is deprecated")
    @Test func `R-240: subscriptions with names of their own`() {
        let zoneID = CKRecordZone.ID(zoneName: "Z")
        let subscriptions: [CKSubscription] = [
            CKDatabaseSubscription(), CKRecordZoneSubscription(zoneID: zoneID),
            CKQuerySubscription(
                recordType: "Note", predicate: NSPredicate(value: true), options: [.firesOnRecordCreation]),
        ]
        #expect(Set(subscriptions.map(\.subscriptionID)).count == 3)
    }

    @Test func `R-250, R-251: CKSubscription.NotificationInfo`() throws {
        let empty = CKSubscription.NotificationInfo()
        #expect(empty.desiredKeys == nil && !empty.shouldSendContentAvailable)
        let info = CKSubscription.NotificationInfo(
            alertBody: "body", alertLocalizationKey: "key", alertLocalizationArgs: ["a"], title: "title",
            titleLocalizationKey: "titleKey", titleLocalizationArgs: ["b"], subtitle: "subtitle",
            subtitleLocalizationKey: "subtitleKey", subtitleLocalizationArgs: ["c"],
            alertActionLocalizationKey: "action", alertLaunchImage: "image", soundName: "sound", desiredKeys: ["d"],
            shouldBadge: true, shouldSendContentAvailable: true, shouldSendMutableContent: true, category: "category",
            collapseIDKey: "collapse")
        #expect(CKSubscription.NotificationInfo(shouldSendContentAvailable: true).shouldSendContentAvailable)
        for info in [info, try archived(info), try #require(info.copy() as? CKSubscription.NotificationInfo)] {
            #expect(info.shouldSendContentAvailable && info.shouldSendMutableContent && info.shouldBadge)
            #expect(info.desiredKeys == ["d"])
            let texts = [
                info.alertBody, info.alertLocalizationKey, info.alertActionLocalizationKey, info.alertLaunchImage,
                info.soundName, info.title, info.titleLocalizationKey, info.subtitle, info.subtitleLocalizationKey,
                info.category, info.collapseIDKey,
            ]
            #expect(
                texts == [
                    "body", "key", "action", "image", "sound", "title", "titleKey", "subtitle", "subtitleKey",
                    "category", "collapse",
                ])
            let arguments = [info.alertLocalizationArgs, info.titleLocalizationArgs, info.subtitleLocalizationArgs]
            #expect(arguments == [["a"], ["b"], ["c"]])
        }
        let other = CKSubscription.NotificationInfo()
        other.shouldSendContentAvailable = true
        other.shouldSendMutableContent = true
        other.shouldBadge = true
        other.desiredKeys = ["d"]
        (other.alertBody, other.alertLocalizationKey) = ("body", "key")
        (other.alertActionLocalizationKey, other.alertLaunchImage, other.soundName) = ("action", "image", "sound")
        (other.title, other.titleLocalizationKey) = ("title", "titleKey")
        (other.subtitle, other.subtitleLocalizationKey) = ("subtitle", "subtitleKey")
        (other.alertLocalizationArgs, other.titleLocalizationArgs) = (["a"], ["b"])
        other.subtitleLocalizationArgs = ["c"]
        (other.category, other.collapseIDKey) = ("category", "collapse")
        #expect(other == info && other != empty)
    }

    @Test func `R-254, R-255: CKNotification and its kinds`() throws {
        func dictionary(_ key: String, _ part: [AnyHashable: Any]) -> [AnyHashable: Any] {
            ["ck": ["cid": "iCloud.org.example.api", "nid": "n", "ckuserid": "_o", key: part] as [AnyHashable: Any]]
        }
        let met = dictionary("met", ["dbs": 2, "sid": "all"])
        let notification = try #require(CKNotification(fromRemoteNotificationDictionary: met))
        let type: CKNotification.NotificationType = notification.notificationType
        #expect(type == .database && notification.containerIdentifier == "iCloud.org.example.api")
        #expect(notification.subscriptionID == "all" && !notification.isPruned)
        let id: CKNotification.ID? = notification.notificationID
        let owner: CKRecord.ID? = notification.subscriptionOwnerUserRecordID
        #expect(id != nil && owner?.recordName == "_o")
        let types: [CKNotification.NotificationType] = [.query, .recordZone, .readNotification, .database]
        #expect(types.map(\.rawValue) == [1, 2, 3, 4])
        #expect((notification as? CKDatabaseNotification)?.databaseScope == .private)
        let back = try archived(try #require(id))
        #expect(back == id)

        let zone = CKNotification(
            fromRemoteNotificationDictionary: dictionary("fet", ["dbs": 2, "sid": "z", "zid": "Z"]))
        let zoneNotification = try #require(zone as? CKRecordZoneNotification)
        #expect(zoneNotification.recordZoneID?.zoneName == "Z" && zoneNotification.databaseScope == .private)

        let query = CKNotification(
            fromRemoteNotificationDictionary: dictionary(
                "qry", ["dbs": 1, "sid": "q", "rid": "r", "fo": 3, "af": ["text": "a"]]))
        let queryNotification = try #require(query as? CKQueryNotification)
        let reason: CKQueryNotification.Reason = queryNotification.queryNotificationReason
        let reasons: [CKQueryNotification.Reason] = [.recordCreated, .recordUpdated, .recordDeleted]
        #expect(reason == .recordDeleted && reasons.map(\.rawValue) == [1, 2, 3])
        #expect(queryNotification.recordFields?["text"] as? String == "a")
        #expect(queryNotification.recordID?.recordName == "r" && queryNotification.databaseScope == .public)
        #expect(CKNotification(fromRemoteNotificationDictionary: ["aps": [:]]) == nil)
    }

    @available(*, deprecated, message: "uses what is deprecated")
    @Test func `R-252, R-255: the alert of a CKNotification`() throws {
        func notification(_ alert: [AnyHashable: Any]) throws -> CKNotification {
            let aps: [AnyHashable: Any] = ["alert": alert, "badge": 1, "sound": "ding", "category": "note"]
            let body: [AnyHashable: Any] = ["met": ["dbs": 2]]
            return try #require(CKNotification(fromRemoteNotificationDictionary: ["aps": aps, "ck": body]))
        }
        let plain = try notification([
            "body": "text", "title": "title", "subtitle": "subtitle", "launch-image": "image",
            "action-loc-key": "action",
        ])
        let texts = [
            plain.alertBody, plain.title, plain.subtitle, plain.alertLaunchImage, plain.alertActionLocalizationKey,
            plain.soundName, plain.category,
        ]
        #expect(texts == ["text", "title", "subtitle", "image", "action", "ding", "note"])
        let badge: NSNumber? = plain.badge
        #expect(badge == 1 && plain.alertLocalizationKey == nil)
        let localized = try notification([
            "loc-key": "key", "loc-args": ["a"], "title-loc-key": "titleKey", "title-loc-args": ["b"],
            "subtitle-loc-key": "subtitleKey", "subtitle-loc-args": ["c"],
        ])
        let keys = [localized.alertLocalizationKey, localized.titleLocalizationKey, localized.subtitleLocalizationKey]
        #expect(keys == ["key", "titleKey", "subtitleKey"])
        let arguments = [
            localized.alertLocalizationArgs, localized.titleLocalizationArgs, localized.subtitleLocalizationArgs,
        ]
        #expect(arguments == [["a"], ["b"], ["c"]])
    }
}
