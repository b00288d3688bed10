// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkService
internal import TidemarkTranslation
internal import TidemarkWire

extension RequestRouter {
    /// Saves and deletes subscriptions (R-240 … R-243). Each has its own result.
    func modifySubscriptions(
        _ request: WireModifySubscriptions, _ context: RequestContext
    ) async throws(Refusal) -> [UInt8] {
        // R-241; R-242 comes first.
        if request.database == .public, context.member.identity != nil { throw Refusal(.subscriptionInvalid) }
        let viewpoint = try ownDatabase(request.database, isWrite: true, context.member)
        guard let user = viewpoint.user else { throw Refusal(.notAuthenticated) }
        let scope = viewpoint.access.scope
        try ItemCount.check(request.saves.count + request.deletes.count, atMost: limits.itemsMax)
        let wishes = request.saves.map { save in
            Result { () throws(Refusal) in
                // another user's zone does not exist for the caller.
                if scope == .private, save.hasZone, viewpoint.zoneKey(of: save.zone) == nil {
                    throw Refusal(.zoneNotFound)
                }
                return try Subscription(save, scope: scope)
            }
        }
        let outcome = try await service.modifySubscriptions(
            saves: wishes.compactMap { try? $0.get() }, deletes: request.deletes, scope: scope, of: user,
            askedBy: context.session.asker
        ).orRefusal()
        // This server learns of the subscriptions before the client is answered: after the answer, the client misses no
        // push.
        if let identity = context.member.identity {
            await pushes.subscriptionsChanged(in: scope, of: identity, by: context.session)
        }
        let failures = wishes.compactMap(\.failure?.code) + outcome.saves.compactMap(\.failure)
        context.note((failures + outcome.deletes.compactMap(\.failure)).first)
        let answer = WireModifySubscriptionsAnswer(
            wishes, saves: outcome.saves, deletes: outcome.deletes, seenFrom: viewpoint, within: limits)
        return ServerMessage.answer(context.id, .modifySubscriptions(answer))
    }
}
