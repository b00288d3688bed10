// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import TidemarkKit

/// What waits for a slow handler of an app.
@Suite struct WaitingNotificationsTests {
    private static func query(
        _ id: String, _ record: String?, _ reason: CKQueryNotification.Reason? = .recordUpdated, collapse: String? = nil
    ) -> NotificationPayload {
        var payload = NotificationPayload(type: .query, scope: .private)
        (payload.subscriptionID, payload.recordName, payload.reason) = (id, record, reason)
        payload.zoneID = record.map { _ in CKRecordZone.ID(zoneName: "Z") }
        (payload.collapseID, payload.isPruned) = (collapse, record == nil)
        return payload
    }

    private static func plain(_ id: String, _ scope: CKDatabase.Scope = .private) -> NotificationPayload {
        var payload = NotificationPayload(type: .database, scope: scope)
        payload.subscriptionID = id
        return payload
    }

    /// What is delivered of these, in order.
    private static func delivered(_ payloads: [NotificationPayload]) -> [String] {
        var waiting = WaitingNotifications()
        for payload in payloads { waiting.append(payload) }
        var lines: [String] = []
        while let next = waiting.next() {
            let parts = [next.subscriptionID ?? "-", next.recordName, next.reason.map { "\($0.rawValue)" }]
            lines.append(parts.compactMap(\.self).joined(separator: " ") + (next.isPruned ? " pruned" : ""))
        }
        return lines
    }

    @Test func `R-253, R-888: of a database's subscription the last one is left, of each database its own`() {
        let payloads = [Self.plain("a"), Self.plain("b"), Self.plain("a"), Self.plain("a", .shared)]
        #expect(Self.delivered(payloads) == ["b", "a", "a"])
    }

    @Test func `R-245, R-888: each record and reason of a query is told, once`() {
        let payloads = [
            Self.query("q", "1", .recordCreated), Self.query("q", "2"), Self.query("q", "1"), Self.query("other", "2"),
            Self.query("q", "2"), Self.query("q", "1", .recordDeleted),
        ]
        #expect(Self.delivered(payloads) == ["q 1 1", "q 1 2", "other 2 2", "q 2 2", "q 1 3"])
    }

    @Test func `R-253, R-888: that anything may have changed is told once, and replaces no record`() {
        let payloads = [Self.query("q", nil, nil), Self.query("q", "1"), Self.query("q", nil, nil)]
        #expect(Self.delivered(payloads) == ["q 1 2", "q pruned"])
    }

    @Test func `R-250, R-888: what the user is to see is not replaced by what is silent, and replaces it`() {
        var shown = Self.query("q", nil, nil)
        shown.alert.body = NotificationAlert.Text(text: "news")
        var told = Self.plain("d")
        told.alert.soundName = "ding"
        #expect(Self.delivered([shown, Self.query("q", nil, nil)]).count == 2)
        #expect(Self.delivered([Self.query("q", nil, nil), shown, Self.query("q", nil, nil), shown]).count == 1)
        #expect(Self.delivered([told, Self.plain("d"), Self.plain("d")]).count == 2)
    }

    @Test func `R-252, R-888: a later push with the same collapse ID replaces the earlier one`() {
        let payloads = [
            Self.query("q", "1", collapse: "c"), Self.query("q", "2", collapse: "d"),
            Self.query("other", "3", collapse: "c"),
            Self.query("q", "4", collapse: "c"),
        ]
        #expect(Self.delivered(payloads) == ["q 2 2", "other 3 2", "q 4 2"])
    }

    @Test func `R-888: of more than 64 records of a query one notification is left, which names none`() {
        let many = (1...64).map { Self.query("q", "\($0)") }
        #expect(Self.delivered(many).count == 64)
        let others = [Self.plain("all"), Self.query("other", "x")]
        #expect(Self.delivered(others + many + [Self.query("q", "65")]) == ["all", "other x 2", "q pruned"])
        #expect(Self.delivered(many + [Self.query("q", "65"), Self.query("q", "66")]) == ["q pruned", "q 66 2"])
    }

    @Test func `R-888: all queries together are bounded`() {
        let many = (0..<5_000).map { Self.query("q\($0 % 100)", "\($0)") }
        let delivered = Self.delivered(many)
        #expect(delivered.count <= 1_024)
        // None is forgotten: each is told by its record, or by a notification that names none.
        let told = Set(delivered.map { $0.prefix { $0 != " " } })
        #expect(told.count == 100)
    }
}
