// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkService
internal import TidemarkTranslation
internal import TidemarkWire

extension RequestRouter {
    /// The caller's subscriptions, all or by ID.
    func fetchSubscriptions(
        _ request: WireFetchSubscriptions, _ context: RequestContext
    ) async throws(Refusal) -> [UInt8] {
        let viewpoint = try ownDatabase(request.database, isWrite: false, context.member)
        guard let user = viewpoint.user else { throw Refusal(.notAuthenticated) }
        try ItemCount.check(request.ids.count, atMost: limits.itemsMax)
        let all = try await service.subscriptions(in: viewpoint.access.scope, of: user).orRefusal()
        if viewpoint.access.scope == .private { await pushes.subscriptionsRead(all, of: viewpoint.database) }
        let results: [Result<Subscription, FailureReason>]
        if request.ids.isEmpty {
            results = all.map { .success($0) }
        } else {
            let known = Dictionary(all.map { ($0.id, $0) }) { first, _ in first }
            results = request.ids.map { id in known[id].map { .success($0) } ?? .failure(.subscriptionUnknown) }
        }
        let answer = WireFetchSubscriptionsAnswer(results, seenFrom: viewpoint, within: limits)
        return ServerMessage.answer(context.id, .fetchSubscriptions(answer))
    }
}
