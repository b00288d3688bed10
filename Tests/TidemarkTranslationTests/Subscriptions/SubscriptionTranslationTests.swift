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

    /// An answer with as many of the results as fit.
    private func answer(
        _ results: [Result<Subscription, FailureReason>], within limits: Limits = Examples.limits,
        then cursor: SubscriptionsCursor? = nil
    ) throws -> WireFetchSubscriptionsAnswer {
        var answer = SubscriptionsFetchAnswer(seenFrom: Examples.viewpoint, limits: limits)
        let count = results.prefix(while: { answer.append($0) }).count
        #expect(answer.count == count)
        return try WireServerEnvelope(reading: answer.message(7, then: cursor)).fetchSubscriptions
    }

    @Test func `R-240: a subscription comes back as it was saved`() throws {
        let subscription = try Subscription(wish, scope: .private)
        #expect(subscription.id == "all-changes")
        #expect(subscription.kind == .database)
        #expect(try answer([.success(subscription)]).subscriptions.map(\.subscription) == [wish])
    }

    @Test func `R-243: no notification info stays none`() throws {
        var silent = WireSubscription()
        (silent.id, silent.kind, silent.recordType) = (wish.id, wish.kind, wish.recordType)
        let subscription = try Subscription(silent, scope: .private)
        #expect(subscription.notificationInfo.isEmpty)
        #expect(try answer([.success(subscription)]).subscriptions.map(\.subscription) == [silent])
    }

    @Test func `R-744: an answer has as many subscriptions as fit into its bytes, and one in any case`() throws {
        let subscription = try Subscription(wish, scope: .private)
        let results: [Result<Subscription, FailureReason>] = [
            .success(subscription), .failure(.subscriptionUnknown), .success(subscription),
        ]
        let whole = try answer(results)
        #expect(whole.subscriptions.count == 3)
        var limits = Limits()
        limits.pageSubscriptionBytesMax = whole.size
        #expect(try answer(results, within: limits) == whole, "all bytes that it has count")
        limits.pageSubscriptionBytesMax = whole.size - 1
        let cursor = SubscriptionsCursor(lastID: "all-changes")
        let cut = try answer(results, within: limits, then: cursor)
        #expect(cut.subscriptions == Array(whole.subscriptions.dropLast()))
        #expect(cut.cursor == cursor.bytes && whole.cursor.isEmpty)
        limits.pageSubscriptionBytesMax = 1
        #expect(try answer(results, within: limits).subscriptions == Array(whole.subscriptions.prefix(1)))
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
        var answer = WireModifySubscriptionsAnswer(deletes: [.success(()), .failure(.subscriptionUnknown)])
        for wish in wishes {
            switch wish {
            case .success: answer.append(.success(saved), seenFrom: Examples.viewpoint, within: Examples.limits)
            case .failure(let refusal): answer.append(refusal)
            }
        }
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
