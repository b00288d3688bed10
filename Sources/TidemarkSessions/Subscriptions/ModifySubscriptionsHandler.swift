// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkScheduling
internal import TidemarkService
internal import TidemarkTranslation
internal import TidemarkWire

extension RequestRouter {
    /// Saves and deletes subscriptions (R-240 … R-243). Each has its own result.
    func modifySubscriptions(
        _ request: WireModifySubscriptions, _ context: RequestContext
    ) async throws(Refusal) -> [UInt8] {
        let viewpoint = try await subscribedDatabase(request.database, isWrite: true, context.member)
        guard let user = viewpoint.user, let identity = context.member.identity else {
            throw Refusal(.notAuthenticated)
        }
        let scope = viewpoint.access.scope
        try ItemCount.check(request.saves.count + request.deletes.count, atMost: limits.itemsMax)
        let searches = try await searches(of: request.saves, for: viewpoint, in: context.member.container)
        var wishes: [Result<Subscription, Refusal>] = []
        var steps = Self.steps
        for (save, search) in zip(request.saves, searches) {
            wishes.append(
                Result { () throws(Refusal) in
                    // another user's zone does not exist for the caller.
                    if scope != .shared, save.hasZone, viewpoint.zoneKey(of: save.zone) == nil {
                        throw Refusal(.zoneNotFound)
                    }
                    return try Subscription(save, scope: scope, for: try search.get())
                })
            await steps.did(1)
        }
        let outcome = try await service.modifySubscriptions(
            saves: wishes.compactMap { try? $0.get() }, deletes: request.deletes, scope: scope, of: user,
            in: identity.container, askedBy: context.session.asker
        ).orRefusal()
        // Whoever writes in the database from now on finds those that are new, and not those that are gone.
        if scope != .shared, outcome.mayChangeQueries { pushes.queriesChanged(in: viewpoint.database) }
        // This server learns of the subscriptions before the client is answered: after the answer, the client misses no
        // push.
        await pushes.subscriptionsChanged(in: scope, of: identity, by: context.session)
        let failures = wishes.compactMap(\.failure?.code) + outcome.saves.compactMap(\.failure)
        context.note((failures + outcome.deletes.compactMap(\.failure)).first)
        var answer = WireModifySubscriptionsAnswer(deletes: outcome.deletes)
        var rest = outcome.saves[...]
        for wish in wishes {
            switch wish {
            case .success:
                answer.append(rest.popFirst() ?? .failure(.serverFault), seenFrom: viewpoint, within: limits)
            case .failure(let refusal): answer.append(refusal)
            }
            await steps.did(1)
        }
        return ServerMessage.answer(context.id, .modifySubscriptions(answer))
    }
}

extension RequestRouter {
    /// The caller's view of a database that has subscriptions of theirs. R-241: the public one has those to queries.
    ///
    /// - Throws: as ``recordDatabase(_:isWrite:_:)``. Without an account there is none.
    func subscribedDatabase(
        _ scope: WireDatabaseScope, isWrite: Bool, _ member: SessionMember
    ) async throws(Refusal) -> Viewpoint {
        guard member.identity != nil else { throw Refusal(.notAuthenticated) }
        return try await recordDatabase(scope, isWrite: isWrite, member)
    }

    /// Predicates are at most 8 KiB each. Others have their turn on the event loop after some of them.
    private static var steps: WorkSteps { WorkSteps(costPerStep: 8) }

    /// What each save looks for, read once.
    ///
    /// Predicates name users by their record names. Names other than the caller's are looked up, for all saves at once, and
    /// only predicates that have some are read again.
    private func searches(
        of saves: [WireSubscription], for viewpoint: Viewpoint, in container: ContainerKey
    ) async throws(Refusal) -> [Result<RecordsSearch?, Refusal>] {
        var found: [Result<RecordsSearch?, Refusal>] = []
        var unknown: Set<String> = []
        var steps = Self.steps
        for save in saves {
            let search = Result { () throws(Refusal) in try save.search(by: viewpoint, limits: limits) }
            if let names = (try? search.get())?.unknownUsers { unknown.formUnion(names) }
            found.append(search)
            await steps.did(1)
        }
        guard !unknown.isEmpty else { return found }
        var viewpoint = viewpoint
        viewpoint.userNames = try await service.users(named: unknown, in: container).orRefusal()
        for (index, save) in saves.enumerated() {
            guard case .success(let search?) = found[index], !search.unknownUsers.isEmpty else { continue }
            found[index] = Result { () throws(Refusal) in try save.search(by: viewpoint, limits: limits) }
            await steps.did(1)
        }
        return found
    }
}
