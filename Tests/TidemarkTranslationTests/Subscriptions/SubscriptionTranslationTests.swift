// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkBytes
import TidemarkDomain
import TidemarkTranslation
import TidemarkWire

@Suite struct SubscriptionTranslationTests {
    private var wish: WireSubscription {
        var wish = WireSubscription()
        wish.id = "all-changes"
        wish.kind = .database
        wish.recordType = "Note"
        wish.notificationInfo.shouldSendContentAvailable = true
        wish.notificationInfo.alertLocalizationArgs = ["a", "b"]
        return wish
    }

    private func answer(_ results: [Result<Subscription, FailureReason>]) -> WireFetchSubscriptionsAnswer {
        WireFetchSubscriptionsAnswer(results, seenFrom: Examples.viewpoint, within: Examples.limits)
    }

    @Test func `R-240: a subscription comes back as it was saved`() throws {
        let subscription = try Subscription(wish, scope: .private)
        #expect(subscription.id == "all-changes")
        #expect(subscription.kind == .database)
        #expect(answer([.success(subscription)]).subscriptions[0].subscription == wish)
    }

    @Test func `R-243: no notification info stays none`() throws {
        var silent = WireSubscription()
        (silent.id, silent.kind, silent.recordType) = (wish.id, wish.kind, wish.recordType)
        let subscription = try Subscription(silent, scope: .private)
        #expect(subscription.notificationInfo.isEmpty)
        #expect(answer([.success(subscription)]).subscriptions[0].subscription == silent)
    }

    @Test func `R-251: desired keys and unknown kinds are refused, each wish on its own`() throws {
        var withKeys = wish
        withKeys.notificationInfo.desiredKeys = ["title"]
        var unknown = wish
        unknown.kind = .unrecognized(8)
        let wishes = [withKeys, wish, unknown].map { wish in
            Result { () throws(Refusal) in try Subscription(wish, scope: .private) }
        }
        let saved = try wishes[1].get()
        let answer = WireModifySubscriptionsAnswer(
            wishes, saves: [.success(saved)], deletes: [.success(()), .failure(.subscriptionUnknown)],
            seenFrom: Examples.viewpoint, within: Examples.limits)
        #expect(answer.saves[0].failure.code == .invalidArguments)
        #expect(answer.saves[1].subscription == wish)
        #expect(answer.saves[2].failure.code == .invalidArguments)
        #expect(answer.deletes[0].result == .done(WireDone()))
        #expect(answer.deletes[1].failure.code == .unknownItem)
    }

    @Test func `R-254: a push names subscription, database and the zones that moved`() throws {
        let zones = ["notes", "lists"].map { ZoneKey(database: Examples.viewpoint.database, name: $0) }
        let push = WirePush(try Subscription(wish, scope: .private), zones: zones, seenFrom: Examples.viewpoint)
        let envelope = try WireServerEnvelope(reading: ServerMessage.push(push))
        #expect(envelope.id == 0)
        #expect(envelope.push.subscriptionID == "all-changes")
        #expect(envelope.push.database == .private)
        #expect(envelope.push.kind == .database)
        #expect(envelope.push.zones.map(\.name) == ["notes", "lists"])
    }
}
