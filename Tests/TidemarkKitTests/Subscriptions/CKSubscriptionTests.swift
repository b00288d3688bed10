// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import TidemarkKit

@Suite struct CKSubscriptionTests {
    @Test func `R-240, R-243, R-247: subscriptions keep what they are given, through archive and copy`() throws {
        let database = CKDatabaseSubscription(subscriptionID: "d")
        #expect(database.subscriptionType == .database && database.notificationInfo == nil)
        database.recordType = "T"
        let info = CKSubscription.NotificationInfo()
        info.shouldSendContentAvailable = true
        database.notificationInfo = info
        let zoneID = CKRecordZone.ID(zoneName: "Z")
        let zone = CKRecordZoneSubscription(zoneID: zoneID, subscriptionID: "z")
        #expect(zone.subscriptionType == .recordZone)
        zone.recordType = "U"
        for data in [
            try NSKeyedArchiver.archivedData(withRootObject: database, requiringSecureCoding: true)
        ] {
            let back = try #require(
                try NSKeyedUnarchiver.unarchivedObject(ofClass: CKDatabaseSubscription.self, from: data))
            #expect(back.subscriptionID == "d" && back.recordType == "T" && back.notificationInfo == info)
        }
        let data = try NSKeyedArchiver.archivedData(withRootObject: zone, requiringSecureCoding: true)
        let back = try #require(try NSKeyedUnarchiver.unarchivedObject(ofClass: CKSubscription.self, from: data))
        let backZone = try #require(back as? CKRecordZoneSubscription)
        #expect(backZone.zoneID == zoneID && backZone.recordType == "U" && backZone.subscriptionID == "z")
        let copy = try #require(database.copy() as? CKDatabaseSubscription)
        copy.recordType = nil
        copy.notificationInfo?.shouldBadge = true
        #expect(database.recordType == "T" && database.notificationInfo?.shouldBadge == false)
        #expect((zone.copy() as? CKRecordZoneSubscription)?.zoneID == zoneID)
    }

    @Test func `R-250: notification settings start silent and come back whole`() throws {
        let none = CKSubscription.NotificationInfo()
        #expect(
            !none.shouldBadge && !none.shouldSendContentAvailable && none.alertBody == nil && none.desiredKeys == nil)
        #expect(none == CKSubscription.NotificationInfo(shouldBadge: false))
        let info = CKSubscription.NotificationInfo(
            alertBody: "body", alertLocalizationKey: "key", alertLocalizationArgs: ["a"], title: "title",
            titleLocalizationKey: "tk", titleLocalizationArgs: ["b"], subtitle: "sub", subtitleLocalizationKey: "sk",
            subtitleLocalizationArgs: ["c"], alertActionLocalizationKey: "ak", alertLaunchImage: "image",
            soundName: "sound", desiredKeys: ["d"], shouldBadge: true, shouldSendContentAvailable: true,
            shouldSendMutableContent: true, category: "cat", collapseIDKey: "collapse")
        #expect(info.titleLocalizationArgs == ["b"] && info.collapseIDKey == "collapse")
        let data = try NSKeyedArchiver.archivedData(withRootObject: info, requiringSecureCoding: true)
        let back = try NSKeyedUnarchiver.unarchivedObject(ofClass: CKSubscription.NotificationInfo.self, from: data)
        #expect(back == info && back != none)
    }

    @Test func `R-254, R-255: a push's dictionary gives the notification of its kind`() throws {
        var payload = NotificationPayload(type: .database, scope: .private)
        payload.containerIdentifier = "iCloud.c"
        payload.subscriptionID = "s"
        payload.notificationID = "n"
        payload.subscriptionOwner = "_me"
        let database = try #require(CKNotification(fromRemoteNotificationDictionary: payload.dictionary))
        #expect(type(of: database) == CKDatabaseNotification.self)
        #expect((database as? CKDatabaseNotification)?.databaseScope == .private)
        #expect(database.notificationType == .database && database.subscriptionID == "s" && !database.isPruned)
        #expect(database.containerIdentifier == "iCloud.c" && database.notificationID == CKNotification.ID("n"))
        #expect(database.subscriptionOwnerUserRecordID?.recordName == "_me")

        payload.type = .recordZone
        payload.scope = .shared
        payload.zoneID = CKRecordZone.ID(zoneName: "Z", ownerName: "_o")
        let zone = CKNotification(fromRemoteNotificationDictionary: payload.dictionary) as? CKRecordZoneNotification
        #expect(zone?.recordZoneID == payload.zoneID && zone?.databaseScope == .shared)

        payload.type = .query
        payload.recordName = "r"
        payload.reason = .recordCreated
        payload.recordFields = ["a": "x"]
        payload.isPruned = true
        let query = try #require(
            CKNotification(fromRemoteNotificationDictionary: payload.dictionary) as? CKQueryNotification)
        #expect(query.queryNotificationReason == .recordCreated && query.isPruned)
        #expect(query.recordID?.recordName == "r" && query.recordID?.zoneID == payload.zoneID)
        #expect(query.recordFields?["a"] as? String == "x")
        #expect(CKDatabaseNotification(fromRemoteNotificationDictionary: payload.dictionary) == nil)
        #expect(CKQueryNotification(fromRemoteNotificationDictionary: payload.dictionary) != nil)
    }

    @Test func `R-254: a foreign dictionary gives nil`() {
        #expect(CKNotification(fromRemoteNotificationDictionary: [:]) == nil)
        #expect(CKNotification(fromRemoteNotificationDictionary: ["aps": ["alert": "x"]]) == nil)
        #expect(CKNotification(fromRemoteNotificationDictionary: ["ck": "x"]) == nil)
        #expect(CKNotification(fromRemoteNotificationDictionary: ["ck": ["met": ["dbs": 9]]]) == nil)
        #expect(CKNotification(fromRemoteNotificationDictionary: ["ck": ["met": [String: Any]()]]) == nil)
    }
}
