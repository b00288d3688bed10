// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkService
internal import TidemarkTranslation
internal import TidemarkWire

extension RequestRouter {
    /// One page of a query's results (R-173 … R-190). Nothing is read for it before its owner's turn.
    func queryRecords(_ request: WireQueryRecords, _ context: RequestContext) async throws(Refusal) -> [UInt8] {
        let turn = WorkTurn(of: context.member.owner, at: gates.queries)
        do throws(StorageError) {
            try await turn.enter()
        } catch {
            throw Refusal(QueryRefusal.crowded(retryAfter: error.retryAfter))
        }
        defer { turn.leave() }
        context.session.noteTurn()
        return try await queryRecords(request, context, in: turn)
    }

    private func queryRecords(
        _ request: WireQueryRecords, _ context: RequestContext, in turn: WorkTurn
    ) async throws(Refusal) -> [UInt8] {
        var viewpoint = try await recordDatabase(request.database, isWrite: false, context.member)
        viewpoint = try await knowingOwners(
            of: CollectionOfOne(request.query.zone), for: viewpoint, context.member)
        let search = try await search(request, by: viewpoint, in: context.member.container)
        let result = await service.queryRecords(
            search.query, in: search.database, of: try await container(of: context.member), by: viewpoint.access,
            cursor: search.cursor, recordsMax: search.limit, for: turn)
        switch result {
        case .success(let page):
            let naming = try await naming(
                page.users(besides: viewpoint.user), for: showing(page, of: search, for: viewpoint))
            let selected = await search.selection?.fields(of: page.matches.map(\.record))
            return try QueryPageEncoder.message(
                context.id, page, to: search, selected: selected, seenFrom: naming)
        case .failure(let refusal): throw Refusal(refusal)
        }
    }

    private func container(of member: SessionMember) async throws(Refusal) -> ContainerID {
        if let identity = member.identity { return identity.container }
        return try await service.publicDatabase(of: member.container).orRefusal().container
    }

    /// Predicates name users by their record names. Names other than the caller's are looked up.
    private func search(
        _ request: WireQueryRecords, by viewpoint: Viewpoint, in container: ContainerKey
    ) async throws(Refusal) -> RecordsSearch {
        let search = try RecordsSearch(request, by: viewpoint, limits: limits)
        guard !search.unknownUsers.isEmpty else { return search }
        var viewpoint = viewpoint
        viewpoint.userNames = try await service.users(named: search.unknownUsers, in: container).orRefusal()
        return try RecordsSearch(request, by: viewpoint, limits: limits)
    }
}
