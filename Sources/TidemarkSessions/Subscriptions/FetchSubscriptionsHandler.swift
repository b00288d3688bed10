// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkService
internal import TidemarkTranslation
internal import TidemarkWire

extension RequestRouter {
    /// The caller's subscriptions, all or by ID, as many as fit into a page.
    func fetchSubscriptions(
        _ request: WireFetchSubscriptions, _ context: RequestContext
    ) async throws(Refusal) -> [UInt8] {
        let viewpoint = try await subscribedDatabase(request.database, isWrite: false, context.member)
        guard let user = viewpoint.user else { throw Refusal(.notAuthenticated) }
        try ItemCount.check(request.ids.count, atMost: limits.itemsMax)
        guard case .success(let start) = SubscriptionsCursor.opened(request.cursor) else {
            throw Refusal(.cursorInvalid, "The cursor is damaged. Fetch the subscriptions again from the first page.")
        }
        let all = try await service.subscriptions(in: viewpoint.access.scope, of: user).orRefusal()
        if let identity = context.member.identity {
            await pushes.subscriptionsRead(all, in: viewpoint.access.scope, of: identity)
        }
        let rest = all.drop(while: { one in start.map { one.id <= $0.lastID } ?? false })
        let wanted: [Result<Subscription, FailureReason>] =
            request.ids.isEmpty ? rest.map { .success($0) } : Self.named(request.ids, among: all)
        var answer = SubscriptionsFetchAnswer(seenFrom: viewpoint, limits: limits)
        await answer.appendInTurns(wanted)
        guard request.inPages || answer.count == wanted.count else {
            throw Refusal(
                .tooManyItems,
                "The subscriptions do not fit into one answer. Ask for fewer by their IDs, or update the client.")
        }
        context.note(wanted.prefix(answer.count).lazy.compactMap(\.failure).first)
        let isCut = request.ids.isEmpty && answer.count < rest.count
        let last = isCut ? rest.prefix(answer.count).last : nil
        return answer.message(context.id, then: last.map { SubscriptionsCursor(lastID: $0.id) })
    }

    private static func named(
        _ ids: [String], among all: [Subscription]
    ) -> [Result<Subscription, FailureReason>] {
        let known = Dictionary(all.map { ($0.id, $0) }) { first, _ in first }
        return ids.map { id in known[id].map { .success($0) } ?? .failure(.subscriptionUnknown) }
    }
}

extension SubscriptionsFetchAnswer {
    /// Bytes of subscriptions in one turn of the event loop. They may be thousands of empty texts. To read and measure one
    /// takes some 100 ns at the most, so a turn takes a millisecond or two.
    private static let bytesPerTurn = 32_768

    /// Adds results up to the bytes of a page. Others have their turn on the event loop in between.
    mutating func appendInTurns(_ results: [Result<Subscription, FailureReason>]) async {
        var turnEnd = Self.bytesPerTurn
        for result in results {
            guard append(result) else { return }
            guard byteCount >= turnEnd else { continue }
            turnEnd = byteCount + Self.bytesPerTurn
            await Task.yield()
        }
    }
}
