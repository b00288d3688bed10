// SPDX-License-Identifier: Apache-2.0

import CloudKit

/// The headlines of a topic, which others write into the public database.
actor Headlines {
    private(set) var titles: [String: String] = [:]
    private(set) var alerts: [String] = []
    private var changeCount = 0
    private let topic: String
    private let container: CKContainer

    init(topic: String, container: CKContainer) {
        self.topic = topic
        self.container = container
    }

    func start() async throws {
        let headlines = self
        container.handleRemoteNotifications { userInfo in
            guard let notification = CKNotification(fromRemoteNotificationDictionary: userInfo) else { return }
            if let alert = Self.alert(in: userInfo) { await headlines.show(alert) }
            await headlines.take(notification)
        }
        let subscription = CKQuerySubscription(
            recordType: "Headline", predicate: NSPredicate(format: "topic == %@", topic), subscriptionID: "headlines")
        let info = CKSubscription.NotificationInfo()
        info.alertLocalizationKey = "HEADLINE"
        info.alertLocalizationArgs = ["title"]
        info.desiredKeys = ["title", "topic"]
        subscription.notificationInfo = info
        try await container.publicCloudDatabase.save(subscription)
        await fetchAll()
    }

    func take(_ notification: CKNotification) async {
        guard let notification = notification as? CKQueryNotification else { return }
        changeCount += 1
        guard let name = notification.recordID?.recordName, !notification.isPruned else { return await fetchAll() }
        let fields = notification.recordFields
        let itsTopic = fields?["topic"] as? String
        // A record that does not match any more is updated as well.
        let belongs = notification.queryNotificationReason != .recordDeleted && itsTopic == topic
        titles[name] = belongs ? fields?["title"] as? String ?? "" : nil
    }

    private func fetchAll() async {
        var seen: Int
        repeat {
            seen = changeCount
            // What fails is fetched with the next notification: there is one after each connection.
            guard let found = try? await query() else { return }
            // If a notification came meanwhile, this may be older.
            if changeCount == seen { titles = found }
        } while changeCount != seen
    }

    private func query() async throws -> [String: String] {
        let query = CKQuery(recordType: "Headline", predicate: NSPredicate(format: "topic == %@", topic))
        let database = container.publicCloudDatabase
        var page = try await database.records(matching: query)
        var titles: [String: String] = [:]
        while true {
            for (id, result) in page.matchResults { titles[id.recordName] = try result.get()["title"] as? String }
            guard let cursor = page.queryCursor else { return titles }
            page = try await database.records(continuingMatchFrom: cursor)
        }
    }

    private static func alert(in userInfo: [AnyHashable: Any]) -> String? {
        let aps = userInfo["aps"] as? [AnyHashable: Any]
        let alert = aps?["alert"] as? [AnyHashable: Any]
        guard alert?["loc-key"] as? String == "HEADLINE" else { return nil }
        return "News: \((alert?["loc-args"] as? [String])?.first ?? "")"
    }

    private func show(_ alert: String) {
        alerts.append(alert)
    }
}
