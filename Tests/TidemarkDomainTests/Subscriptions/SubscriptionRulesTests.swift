// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain

@Suite struct SubscriptionRulesTests {
    func subscription(
        _ id: String = "s", _ scope: DatabaseScope = .private, _ kind: Subscription.Kind = .database,
        recordType: String? = nil, info: [UInt8] = []
    ) -> Subscription {
        Subscription(id: id, scope: scope, kind: kind, recordType: recordType, notificationInfo: info)
    }

    @Test func `R-241, R-243: which subscriptions a database can have`() {
        let rows: [(Subscription, Bool)] = [
            (subscription("s", .private), true),
            (subscription("s", .shared), true),
            (subscription("s", .public), false),
            (subscription("s", .private, .query), false),
            (subscription("s", .public, .query), false),
            (subscription("s", .private, .recordZone), false),
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

    @Test func `R-247: a database subscription fires on every zone but the default one`() {
        let all = [subscription("a"), subscription("b", recordType: "Note"), subscription("c", .shared)]
        #expect(all.fired(byZoneNamed: "Notes", in: .private).map(\.id) == ["a", "b"])
        #expect(all.fired(byZoneNamed: "", in: .private).map(\.id) == ["a", "b"])
        #expect(all.fired(byZoneNamed: "Notes", in: .shared).map(\.id) == ["c"])
        #expect(all.fired(byZoneNamed: ZoneName.default, in: .private).isEmpty)
    }
}
