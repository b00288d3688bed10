// SPDX-License-Identifier: Apache-2.0

import Foundation
import TidemarkBytes
import TidemarkKit
import TidemarkWire

/// Attacks by what others would be told: subscriptions to queries that all fire, and presence.
extension Attack {
    static let watching = [longTexts, longPredicates, everywhere]

    /// Each save replaces one long text by another, and all subscriptions look for words of both. If each found the words anew, or
    /// they were found on an event loop (R-292), it would be held for longer than a campaign allows. So it would be if all texts
    /// of pushes were written before they are left out (R-295).
    private static let longTexts = Attack(
        testDescription: "long texts for whose words all subscriptions look", company: .watchers, connections: 4,
        underWay: 2, period: nil, byNobody: .none("nobody has subscriptions"),
        prepare: { database, isLong in
            let subscriptions = (0..<(isLong ? 250 : 50)).map { number in
                let subscription = CKQuerySubscription(
                    recordType: "Watched", predicate: NSPredicate(format: "self CONTAINS %@", "word\(number)"),
                    subscriptionID: "watch \(number)")
                subscription.notificationInfo = CKSubscription.NotificationInfo(
                    titleLocalizationKey: "title", titleLocalizationArgs: Array(repeating: "text", count: 400))
                return subscription
            }
            // A request has room for the texts of ten.
            for start in stride(from: 0, to: subscriptions.count, by: 10) {
                let some = Array(subscriptions[start..<start + 10])
                _ = try await database.modifySubscriptions(saving: some, deleting: [])
            }
        },
        fill: { envelope, scope in
            var save = WireRecordSave()
            save.name = "watched \(envelope.id % 4)"
            save.type = "Watched"
            save.fields = fieldBytes(["text": watchedText, "number": "\(envelope.id)"])
            envelope.modifyRecords = modify([save], in: CKRecordZone.ID.default.zoneName, envelope.id, scope)
            envelope.modifyRecords.policy = .allKeys
        })

    /// Of words that no folding of ASCII makes short work of.
    private static let watchedText = (0..<20_000).map { "Ähre\($0) word\($0 % 500)" }.joined(separator: " ")

    /// As many as a request may have, each nearly as long as it may be. If they were read in one turn of an event loop (R-293), it
    /// would be held for longer than a campaign allows.
    private static let longPredicates = Attack(
        testDescription: "subscriptions with the longest predicates", company: .watchers, connections: 4, underWay: 2,
        byNobody: .none("nobody has subscriptions")
    ) { envelope, scope in
        var predicate = WirePredicate()
        predicate.isIn.key = "number"
        predicate.isIn.values = (0..<900).map { (number: Int64) in
            var value = WireQueryValue()
            value.int64 = number
            return value
        }
        envelope.modifySubscriptions = WireModifySubscriptions()
        envelope.modifySubscriptions.database = scope
        envelope.modifySubscriptions.saves = (0..<250).map { number in
            var subscription = WireSubscription()
            subscription.id = "long \(number)"
            subscription.kind = .query
            subscription.recordType = "Long"
            subscription.options = 1
            subscription.predicate = predicate.encoded
            return subscription
        }
    }

    /// Of an account that is present wherever it may be, with the longest states. Each connection joins other places than the one
    /// before it.
    private static let everywhere = Attack(
        testDescription: "presence in 256 places", company: .watchers, connections: 16, isShared: true, underWay: 16,
        period: 256, isStaggered: true, byNobody: .none("nobody is present"),
        prepare: { database, _ in
            let zones = (0..<256).map { CKRecordZone(zoneName: "present \($0)") }
            _ = try await database.modifyRecordZones(saving: zones, deleting: [])
        },
        fill: {
            $0.joinPresence = WireJoinPresence()
            $0.joinPresence.database = $1
            $0.joinPresence.zone = zone("present \($0.id % 256)")
            $0.joinPresence.state = Array(repeating: 7, count: 1_024)
        })
}
