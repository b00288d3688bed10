// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkService
internal import TidemarkTranslation
internal import TidemarkWire

extension RequestRouter {
    /// One page of the database's feed (R-203 … R-207).
    func fetchDatabaseChanges(
        _ request: WireFetchDatabaseChanges, _ context: RequestContext
    ) async throws(Refusal) -> [UInt8] {
        var viewpoint = try await feedDatabase(request.database, context.member, without: .wrongDatabase)
        if request.mayHaveThen {
            viewpoint = try await knowingOwners(of: CollectionOfOne(request.then.zone), for: viewpoint, context.member)
        }
        let query = DatabaseChangesQuery(request, by: viewpoint)
        let question = query.then.flatMap { then in
            then.key.map { key in
                ZoneQuestion(
                    key: key, token: then.token, recordsMax: then.limit, device: viewpoint.device,
                    connection: context.session.number, tellsEnds: then.tellsEnds,
                    reader: viewpoint.access.unlessOwner)
            }
        }
        let answer = try await service.databaseChanges(
            of: viewpoint.database, token: query.token, zonesMax: query.limit, tellsEnds: query.tellsEnds,
            then: question
        ).orRefusal()
        let entries = answer.zonePage?.entries ?? []
        let selected = await query.then?.selection?.fields(of: entries)
        var naming = try await knowingOwners(
            of: Set((answer.page.changed + answer.page.ended).map(\.key.database)), for: viewpoint)
        if let key = question?.key { naming = try await showing(entries, in: key, for: naming) }
        naming = try await self.naming(entries.users(besides: viewpoint.user), for: naming)
        context.session.noteTold(answer.page, asked: query.token)
        if let then = query.then, let key = then.key, let page = answer.zonePage {
            context.session.noteTold(page.token, in: page.zone, of: key, asked: then.token)
        }
        if viewpoint.access.scope == .private {
            context.session.answered { pushes in
                pushes.answered(answer.page, follows: query.follows)
                if let page = answer.zonePage { pushes.answered(page) }
            }
        }
        if !answer.page.ended.isEmpty { pushes.zonesEnded(in: viewpoint.database) }
        let lacks =
            request.subscriptionID.isEmpty
            ? false : await lacksSubscription(request.subscriptionID, viewpoint)
        guard let zonePage = answer.zonePage else {
            let message = try WireFetchDatabaseChangesAnswer(
                answer.page, seenFrom: naming, lacksSubscription: lacks)
            return ServerMessage.answer(context.id, .fetchDatabaseChanges(message))
        }
        return try ZonePageEncoder.message(
            context.id, answer.page, lacksSubscription: lacks, then: zonePage, selected: selected,
            seenFrom: naming)
    }

    /// Whether a database subscription on which a client relies is gone, as far as this server knows. Another
    /// server may have deleted it some seconds ago.
    private func lacksSubscription(_ id: String, _ viewpoint: Viewpoint) async -> Bool {
        guard viewpoint.access.scope != .private, !pushes.watches(viewpoint.database) else {
            return await pushes.lacksSubscription(id, of: viewpoint.database)
        }
        guard let user = viewpoint.user,
            case .success(let all) = await service.subscriptions(in: viewpoint.access.scope, of: user)
        else { return false }
        return !all.contains { $0.id == id && $0.kind == .database }
    }
}
