// SPDX-License-Identifier: Apache-2.0

import CloudKit
import Foundation
import Synchronization
import Testing

/// What the push of a query subscription brings: on TestKit and on a real server.
@Suite(.timeLimit(.minutes(10))) struct QueryNotificationConformanceTests {
    /// A family of four: one character of 25 bytes.
    private static let family = "\u{1F468}\u{200D}\u{1F469}\u{200D}\u{1F467}\u{200D}\u{1F466}"

    private static func subscription(_ info: CKSubscription.NotificationInfo) -> CKQuerySubscription {
        let subscription = CKQuerySubscription(
            recordType: "Note", predicate: NSPredicate(value: true), subscriptionID: "q")
        subscription.notificationInfo = info
        return subscription
    }

    private struct Story {
        let phone: QueryListener
        let laptop: CKDatabase
        let cloud: any ConformingCloud

        init(_ cloud: any ConformingCloud, _ info: CKSubscription.NotificationInfo) async throws {
            self.cloud = cloud
            phone = QueryListener(try await cloud.device(of: "alice").container)
            laptop = try await cloud.device(of: "alice").database
            try await laptop.save(CKRecordZone(zoneID: Both.notes))
            try await phone.subscribe([QueryNotificationConformanceTests.subscription(info)])
        }

        /// The notification of what `body` changes.
        func notification(_ what: String, _ body: () async throws -> Void) async throws -> QueryListener.Told {
            func told() -> [QueryListener.Told] {
                // Others say after a connection that anything may have changed.
                phone.told(of: "q").filter { $0.alert != nil || $0.query.recordID != nil }
            }
            let before = told().count
            _ = try await phone.hears(
                after: what, by: laptop, until: { try await cloud.run(until: $0, $1) }, body)
            #expect(told().count == before + 1, "\(what): \(phone.told(of: "q"))")
            return try #require(told().last)
        }

        func save(_ name: String, _ fields: [String: any CKRecordValueProtocol]) async throws {
            let results = try await laptop.modifyRecords(
                saving: [Both.note(name, fields)], deleting: [], savePolicy: .allKeys)
            _ = try results.saveResults[Both.id(name)]?.get()
        }
    }

    @Test func `R-250, R-251, R-252, R-258: fields, and texts that are filled in; a deletion has no fields`()
        async throws
    {
        let info = CKSubscription.NotificationInfo(
            alertBody: "loses against the key", alertLocalizationKey: "CHANGED",
            alertLocalizationArgs: ["title", "count", "missing"], title: "Notes", soundName: "ding",
            desiredKeys: ["title", "count", "text"], shouldBadge: true, category: "note")
        let seen = try await Both.clouds { cloud in
            let story = try await Story(cloud, info)
            let long = String(repeating: "x", count: 150)
            let saved = try await story.notification("a save") {
                try await story.save("n", ["title": "Milk", "count": 7, "text": long])
            }
            let fields = saved.query.recordFields ?? [:]
            let deleted = try await story.notification("a deletion") {
                try await story.laptop.deleteRecord(withID: Both.id("n"))
            }
            return [
                "\(fields["title"] as? String ?? "-") \(fields["count"] as? Int ?? -1)",
                "\((fields["text"] as? String)?.count ?? -1)", saved.alert ?? "-", "\(saved.query.isPruned)",
                "\(deleted.query.queryNotificationReason.rawValue) \(deleted.query.recordFields == nil)",
                deleted.query.recordID?.recordName ?? "-",
            ]
        }
        #expect(seen == ["Milk 7", "100", "Notes | CHANGED [Milk, 7, ] | ding", "false", "3 true", "n"])
    }

    @Test func `R-250: without anything to see or hear a push is silent, with and without fields`() async throws {
        let info = CKSubscription.NotificationInfo(desiredKeys: ["title"], shouldSendContentAvailable: true)
        let seen = try await Both.clouds { cloud in
            let story = try await Story(cloud, info)
            let saved = try await story.notification("a save") { try await story.save("n", ["title": "Milk"]) }
            return [saved.query.recordFields?["title"] as? String ?? "-", saved.alert ?? "silent"]
        }
        #expect(seen == ["Milk", "silent"])
    }

    @Test func `R-251: other subscriptions have no desired keys`() async throws {
        let seen = try await Both.clouds { cloud in
            let database = try await cloud.device(of: "alice").database
            try await database.save(CKRecordZone(zoneID: Both.notes))
            let ofDatabase = CKDatabaseSubscription(subscriptionID: "d")
            let ofZone = CKRecordZoneSubscription(zoneID: Both.notes, subscriptionID: "z")
            let ofQuery = QueryNotificationConformanceTests.subscription(CKSubscription.NotificationInfo())
            var seen: [String] = []
            for (subscription, count) in [(ofDatabase, 1), (ofZone, 1), (ofQuery, 3), (ofQuery, 4)]
                as [(CKSubscription, Int)]
            {
                subscription.notificationInfo = CKSubscription.NotificationInfo(
                    desiredKeys: (0..<count).map { "key\($0)" })
                seen.append(await Both.code { try await database.save(subscription) })
            }
            return seen
        }
        let invalid = "\(CKError.Code.invalidArguments)"
        #expect(seen == [invalid, invalid, "done", invalid])
    }

    @Test func `R-256: beyond 4 KB the fields go first, then the reason and the record, and the alert's text last`()
        async throws
    {
        let seen = try await Both.clouds { cloud in
            // Each argument that the record fills has 100 characters of 25 bytes.
            let title = String(repeating: "t", count: 1_000)
            var info = CKSubscription.NotificationInfo(
                alertBody: "body", title: title, desiredKeys: ["a", "b", "c"])
            var story = try await Story(cloud, info)
            let families = String(repeating: Self.family, count: 100)
            let fields = ["a": families, "b": families, "c": families]
            let withoutFields = try await story.notification("long fields") { try await story.save("n", fields) }
            info = CKSubscription.NotificationInfo(
                alertLocalizationKey: "key", alertLocalizationArgs: ["a"], title: String(repeating: "t", count: 2_000),
                desiredKeys: ["a"])
            story = try await Story(cloud, info)
            let textAlone = try await story.notification("a long alert") { try await story.save("m", fields) }
            return [
                "\(withoutFields.query.isPruned) \(withoutFields.query.recordFields == nil)",
                withoutFields.query.recordID?.recordName ?? "-", "\(withoutFields.alert?.count ?? 0)",
                "\(textAlone.query.isPruned) \(textAlone.query.recordID == nil) \(textAlone.query.recordFields == nil)",
                "\(textAlone.alert?.hasPrefix("- | key [") ?? false)",
            ]
        }
        #expect(seen == ["true true", "n", "\(1_000 + " | body | -".count)", "true true true", "true"])
    }

    @Test func `R-250, R-252: a change of a zone or a database is shown, if its subscription says so`() async throws {
        let seen = try await Both.clouds { cloud in
            let container = try await cloud.device(of: "alice").container
            let laptop = try await cloud.device(of: "alice").database
            try await laptop.save(CKRecordZone(zoneID: Both.notes))
            let ofDatabase = CKDatabaseSubscription(subscriptionID: "database")
            ofDatabase.notificationInfo = CKSubscription.NotificationInfo(
                alertBody: "loses against the key", alertLocalizationKey: "CHANGED", shouldBadge: true)
            let ofZone = CKRecordZoneSubscription(zoneID: Both.notes, subscriptionID: "zone")
            ofZone.notificationInfo = CKSubscription.NotificationInfo(alertBody: "notes", soundName: "ding")
            let silent = CKDatabaseSubscription(subscriptionID: "silent")
            silent.notificationInfo = CKSubscription.NotificationInfo(shouldSendContentAvailable: true)
            let shown = Mutex<Set<String>>([])
            let silentCount = Mutex(0)
            container.handleRemoteNotifications { userInfo in
                let id = CKNotification(fromRemoteNotificationDictionary: userInfo)?.subscriptionID ?? "-"
                let aps = userInfo["aps"] as? [AnyHashable: Any] ?? [:]
                if id == "silent" { silentCount.withLock { $0 += 1 } }
                guard let alert = aps["alert"] as? [AnyHashable: Any] else { return }
                let parts = ["body", "loc-key"].map { alert[$0] as? String ?? "-" }
                let badge = aps["badge"] as? Int ?? 0
                let line = "\(id): \(parts.joined(separator: " ")) \(aps["sound"] as? String ?? "-") \(badge)"
                _ = shown.withLock { $0.insert(line) }
            }
            let results = try await container.privateCloudDatabase.modifySubscriptions(
                saving: [ofDatabase, ofZone, silent], deleting: [])
            for result in results.saveResults.values { _ = try result.get() }
            let before = silentCount.withLock { $0 }
            try await laptop.save(Both.note("n", ["a": "1"]))
            try await cloud.run(until: "all are told") {
                shown.withLock { $0.count } >= 2 && silentCount.withLock { $0 } > before
            }
            return shown.withLock { $0.sorted() }
        }
        #expect(seen == ["database: - CHANGED - 1", "zone: notes - ding 0"])
    }
}
