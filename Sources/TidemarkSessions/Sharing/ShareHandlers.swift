// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkService
internal import TidemarkTranslation
internal import TidemarkWire

extension RequestRouter {
    /// What links lead to.
    func fetchShareMetadata(
        _ request: WireFetchShareMetadata, _ context: RequestContext
    ) async throws(Refusal) -> [UInt8] {
        let viewpoint = try context.member.sharedViewpoint()
        let found = try await service.shareMetadata(
            ofLinks: request.links.map(ShareLink.secret(in:)), for: try viewpoint.linkBearer,
            askedBy: context.session.asker
        ).orRefusal()
        context.note(found.lazy.compactMap(\.failure).first)
        var answer = WireFetchShareMetadataAnswer()
        answer.results = try await results(found, for: viewpoint, roots: try WantedRoots(request))
        return ServerMessage.answer(context.id, .fetchShareMetadata(answer))
    }

    /// Accepts shares, or declines them.
    func acceptShares(_ request: WireAcceptShares, _ context: RequestContext) async throws(Refusal) -> [UInt8] {
        let viewpoint = try context.member.sharedViewpoint()
        let secrets = request.links.map(ShareLink.secret(in:))
        let (bearer, asker) = (try viewpoint.linkBearer, context.session.asker)
        let turn = WorkTurn(of: context.member.owner, at: gates[.change])
        var answer = WireAcceptSharesAnswer()
        if request.declines {
            let declined = try await service.declineShares(
                ofLinks: secrets, for: bearer, askedBy: asker, in: turn
            ).orRefusal()
            context.note(declined.lazy.compactMap(\.failure).first)
            answer.results = declined.map { WireShareMetadataResult(declined: $0) }
        } else {
            // As much room as a fetch of the shares takes.
            let reading = WorkTurn(of: context.member.owner, at: gates[.fetch], room: RequestGates.pageRoom)
            defer { reading.leave() }
            let accepted = try await service.acceptShares(
                ofLinks: secrets, for: bearer, askedBy: asker, in: turn, reading: reading
            ).orRefusal()
            context.note(accepted.lazy.compactMap(\.failure).first)
            answer.results = try await results(accepted, for: viewpoint)
        }
        return ServerMessage.answer(context.id, .acceptShares(answer))
    }

    /// Asks for access to shares.
    func requestShareAccess(
        _ request: WireRequestShareAccess, _ context: RequestContext
    ) async throws(Refusal) -> [UInt8] {
        let viewpoint = try context.member.sharedViewpoint()
        try ItemCount.check(request.links.count, atMost: limits.requestedLinksMax)
        if let delay = service.delay(ofAccessRequests: request.links.count, by: context.member.owner) {
            let text = "The account has asked for access to too many links. Ask for the others after the delay."
            throw Refusal(.tooManyRequests, text, retryAfter: delay / .seconds(1))
        }
        let asked = try await service.requestAccess(
            toLinks: request.links.map(ShareLink.secret(in:)), for: try viewpoint.linkBearer,
            askedBy: context.session.asker, in: WorkTurn(of: context.member.owner, at: gates[.change])
        ).orRefusal()
        context.note(asked.lazy.compactMap(\.failure).first)
        return ServerMessage.answer(context.id, .requestShareAccess(WireRequestShareAccessAnswer(asked)))
    }

    /// Looks for people to invite.
    func fetchShareParticipants(
        _ request: WireFetchShareParticipants, _ context: RequestContext
    ) async throws(Refusal) -> [UInt8] {
        guard context.member.identity != nil else { throw Refusal(.notAuthenticated) }
        let lookups = request.lookups.map { PersonLookup($0) }
        try ItemCount.check(lookups.count(where: \.isAddress), atMost: limits.addressLookupsMax)
        if let delay = service.delay(of: lookups, by: context.member.owner) {
            let text = "The account has looked up too many addresses. Look up the others after the delay."
            throw Refusal(.tooManyRequests, text, retryAfter: delay / .seconds(1))
        }
        let found = try await service.findPersons(
            lookups, in: context.member.container, tellsAccounts: tellsAccounts
        ).orRefusal()
        context.note(found.lazy.compactMap(\.failure).first)
        return ServerMessage.answer(context.id, .fetchShareParticipants(WireFetchShareParticipantsAnswer(found)))
    }

    private func results(
        _ found: [Result<ShareMetadata, FailureReason>], for viewpoint: Viewpoint, roots: WantedRoots = .none
    ) async throws(Refusal) -> [WireShareMetadataResult] {
        let shown = found.compactMap { try? $0.get() }
        var viewpoint = viewpoint
        var users: Set<UserID> = []
        for metadata in shown {
            // a zone of the caller names no owner.
            let isOwn = metadata.owner.user == viewpoint.user
            viewpoint.zoneOwners[metadata.owner.privateDatabase] = isOwn ? "" : metadata.owner.recordName
            users.formUnion(metadata.share.users(besides: viewpoint.user))
            users.insert(metadata.record.createdBy, metadata.record.modifiedBy, besides: viewpoint.user)
            if roots != .none, let root = metadata.root {
                users.insert(root.createdBy, root.modifiedBy, besides: viewpoint.user)
            }
        }
        viewpoint = try await naming(users, for: viewpoint)
        return found.map { WireShareMetadataResult($0, seenFrom: viewpoint, within: limits, roots: roots) }
    }
}
