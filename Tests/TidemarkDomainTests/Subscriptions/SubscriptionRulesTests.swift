// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain

@Suite struct SubscriptionRulesTests {
    func subscription(
        _ id: String = "s", _ scope: DatabaseScope = .private, _ kind: Subscription.Kind = .database,
        recordType: String? = nil, zone: String? = nil, info: [UInt8] = []
    ) -> Subscription {
        Subscription(
            id: id, scope: scope, kind: kind, recordType: recordType, zoneName: zone, notificationInfo: info)
    }

    @Test func `R-241, R-243: which subscriptions a database can have`() {
        let rows: [(Subscription, Bool)] = [
            (subscription("s", .private), true),
            (subscription("s", .shared), true),
            (subscription("s", .public), false),
            (subscription("s", .private, .query), false),
            (subscription("s", .public, .query), false),
            (subscription("s", .private, .recordZone), false),
            (subscription("s", .private, .recordZone, zone: "Notes"), true),
            (subscription("s", .private, .recordZone, recordType: "Note", zone: "Notes"), true),
            (subscription("s", .private, .recordZone, zone: ZoneName.default), false),
            (subscription("s", .private, .recordZone, zone: "_no zone"), false),
            (subscription("s", .shared, .recordZone, zone: "Notes"), false),
            (subscription("s", .public, .recordZone, zone: "Notes"), false),
            (subscription("s", .private, .database, zone: "Notes"), false),
            (subscription("s", recordType: "Note"), true),
            (subscription("s", recordType: "no type"), false),
            (subscription("s", info: Array(repeating: 0, count: 4_096)), true),
            (subscription("s", info: Array(repeating: 0, count: 4_097)), false),
        ]
        for (subscription, isValid) in rows {
            #expect(subscription.refusal(within: Limits()) == (isValid ? nil : .subscriptionInvalid), "\(subscription)")
        }
    }

    @Test func `R-240: subscription IDs`() {
        for id in ["s", "_s", "a b", String(repeating: "s", count: 255)] {
            #expect(subscription(id).refusal(within: Limits()) == nil)
        }
        for id in ["", "a\u{0}b", "ü", String(repeating: "s", count: 256)] {
            #expect(subscription(id).refusal(within: Limits()) == .subscriptionInvalid)
        }
    }

    @Test func `R-247: a zone subscription fires on its zone alone, and its pushes name it`() {
        let zone = subscription("z", .private, .recordZone, zone: "Notes")
        let database = subscription("d")
        let rows: [(moved: [String], ofDatabase: [String]?, ofZone: [String]?)] = [
            ([], [], ["Notes"]), (["Notes"], ["Notes"], ["Notes"]),
            (["Other", "Notes"], ["Other", "Notes"], ["Notes"]), (["Other"], ["Other"], nil), ([""], [], nil),
            (["", "Notes"], [], ["Notes"]),
        ]
        for (moved, ofDatabase, ofZone) in rows {
            #expect(database.zonesPushed(ofMoved: moved) == ofDatabase && zone.zonesPushed(ofMoved: moved) == ofZone)
        }
    }
}
