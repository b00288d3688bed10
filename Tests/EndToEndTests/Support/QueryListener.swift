// SPDX-License-Identifier: Apache-2.0

import CloudKit
import Foundation
import Synchronization

/// What an app without an engine hears of its query subscriptions.
final class QueryListener: Sendable {
    /// A notification, and what the user is shown.
    struct Told: Sendable {
        let query: CKQueryNotification
        /// Title, text and sound; nil: nothing.
        let alert: String?
    }

    private struct State {
        /// Of records, in the order in which they came.
        var lines: [String] = []
        /// That records may have changed, by subscription.
        var pruned: [String: Int] = [:]
        var told: [Told] = []
    }

    private static let sentinelType = "Sentinel"

    let container: CKContainer
    private let state = Mutex(State())

    init(_ container: CKContainer) {
        self.container = container
        container.handleRemoteNotifications { self.add($0) }
    }

    private func add(_ userInfo: [AnyHashable: Any]) {
        let notification = CKNotification(fromRemoteNotificationDictionary: userInfo)
        guard let query = notification as? CKQueryNotification else { return }
        let id = query.subscriptionID ?? "-"
        let told = Told(query: query, alert: Self.alert(userInfo["aps"] as? [AnyHashable: Any] ?? [:]))
        state.withLock { state in
            state.told.append(told)
            if let record = query.recordID {
                let reasons = [1: "created", 2: "updated", 3: "deleted"]
                let reason = reasons[query.queryNotificationReason.rawValue] ?? "?"
                state.lines.append("\(id) \(reason) \(record.recordName)")
            } else {
                state.pruned[id, default: 0] += 1
            }
        }
    }

    /// "subscription reason record", in the order in which they came.
    var lines: [String] { state.withLock { $0.lines } }

    /// How often the app was told that records may have changed.
    func prunedCount(_ id: String) -> Int { state.withLock { $0.pruned[id] ?? 0 } }

    /// The notifications of one subscription.
    func notifications(of id: String) -> [CKQueryNotification] {
        told(of: id).map(\.query)
    }

    func told(of id: String) -> [Told] {
        state.withLock { state in state.told.filter { $0.query.subscriptionID == id } }
    }

    private static func alert(_ aps: [AnyHashable: Any]) -> String? {
        let alert = aps["alert"] as? [AnyHashable: Any] ?? [:]
        let key = (alert["loc-key"] as? String).map { key in
            "\(key) [\((alert["loc-args"] as? [String] ?? []).joined(separator: ", "))]"
        }
        let parts = [alert["title"] as? String, key ?? alert["body"] as? String, aps["sound"] as? String]
        return parts.allSatisfy { $0 == nil } ? nil : parts.map { $0 ?? "-" }.joined(separator: " | ")
    }

    /// Saves subscriptions, with one by which ``hears(after:by:in:until:_:)`` knows that nothing is on its way.
    func subscribe(_ subscriptions: [CKQuerySubscription], in scope: CKDatabase.Scope = .private) async throws {
        let sentinel = CKQuerySubscription(
            recordType: Self.sentinelType, predicate: NSPredicate(value: true), subscriptionID: "sentinel",
            options: .firesOnRecordCreation)
        let results = try await container.database(with: scope)
            .modifySubscriptions(saving: subscriptions + [sentinel], deleting: [])
        for result in results.saveResults.values { _ = try result.get() }
    }

    /// What the app hears of a change by `other`, by name. Pushes come in the order of the changes, so with that of a last record
    /// those before it have come.
    func hears(
        after change: String, by other: CKDatabase, in zoneID: CKRecordZone.ID = .default,
        until wait: (String, () async throws -> Bool) async throws -> Void, _ body: () async throws -> Void
    ) async throws -> [String] {
        let start = lines.count
        try await body()
        let name = UUID().uuidString
        try await other.save(
            CKRecord(
                recordType: Self.sentinelType, recordID: CKRecord.ID(recordName: name, zoneID: zoneID)))
        let last = "sentinel created \(name)"
        try await wait("the push after: \(change)") { lines.contains(last) }
        return lines.dropFirst(start).filter { $0 != last }.sorted()
    }
}
