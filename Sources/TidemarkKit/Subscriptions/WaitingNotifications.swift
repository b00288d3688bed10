// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// The notifications that wait for an app's handler, in the order in which they are delivered. It is bounded.
///
/// For a zone or database subscription only one stays, because each says the same: fetch. Notifications of a query name
/// different records, so they stay apart. If too many wait, those of the subscription become one that names no record.
struct WaitingNotifications {
    /// The most notifications of one query that wait, and of all queries of a container.
    private static let ofQueryMax = 64
    private static let ofQueriesMax = 1_024

    private var list: [NotificationPayload] = []

    mutating func append(_ payload: NotificationPayload) {
        list.removeAll(where: payload.replaces)
        list.append(payload)
        guard payload.type == .query else { return }
        let ofQueries = list.count { $0.type == .query }
        guard ofQueries > Self.ofQueriesMax || list.count(where: payload.isOfSameSubscription) > Self.ofQueryMax
        else { return }
        list.removeAll(where: payload.isOfSameSubscription)
        var summary = payload.withoutContent
        summary.alert = payload.alert
        summary.containerIdentifier = payload.containerIdentifier
        summary.notificationID = payload.notificationID
        summary.subscriptionOwner = payload.subscriptionOwner
        list.append(summary)
    }

    /// The next one to deliver. It does not wait any more.
    mutating func next() -> NotificationPayload? {
        list.isEmpty ? nil : list.removeFirst()
    }

    mutating func removeAll() {
        list = []
    }
}

extension NotificationPayload {
    /// Whether an earlier notification says nothing that this one does not say.
    fileprivate func replaces(_ earlier: NotificationPayload) -> Bool {
        guard isOfSameSubscription(earlier) else { return false }
        // A silent notification does not replace one that the user sees or hears.
        guard alert.isVisible || !earlier.alert.isVisible else { return false }
        guard type == .query, earlier.type == .query else { return true }
        if let collapseID, collapseID == earlier.collapseID { return true }
        return recordName == earlier.recordName && zoneID == earlier.zoneID && reason == earlier.reason
    }
}
