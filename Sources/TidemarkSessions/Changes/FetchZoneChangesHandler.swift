// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkService
internal import TidemarkTranslation
internal import TidemarkWire

extension RequestRouter {
    /// One page of a zone's feed (R-208 … R-215).
    func fetchZoneChanges(_ request: WireFetchZoneChanges, _ context: RequestContext) async throws(Refusal) -> [UInt8] {
        var viewpoint = try await feedDatabase(request.database, context.member, without: .feedUnavailable)
        viewpoint = try await knowingOwners(of: CollectionOfOne(request.zone), for: viewpoint, context.member)
        let query = try ZoneChangesQuery(request, by: viewpoint)
        guard let key = query.key else { throw Refusal(.zoneNotFound) }
        let feedsEverywhere =
            key.name == ZoneName.default
            ? try await service.feedsEverywhere(in: context.member.container).orRefusal() : false
        let question = ZoneQuestion(
            key: key, token: query.token, recordsMax: query.limit, device: viewpoint.device,
            connection: context.session.number, tellsEnds: query.tellsEnds, reader: viewpoint.access.unlessOwner,
            feedsEverywhere: feedsEverywhere)
        let asker = viewpoint
        let made = try await service.zoneChanges(
            question, for: context.member.owner, on: context.session.lane
        ) { page in
            await message(of: page, in: key, query, for: asker, context)
        }.orRefusal().get()
        // Not before: only now it is known that the caller has access to the zone, and is told.
        context.session.noteTold(made.end, in: made.zone, of: key, asked: query.token)
        return made.message
    }

    /// The answer with a page of a zone's feed, which is dropped if it turns out that the caller lost access to the zone.
    private func message(
        of page: ZonePage, in key: ZoneKey, _ query: ZoneChangesQuery, for viewpoint: Viewpoint,
        _ context: RequestContext
    ) async -> Result<ZonePageMessage, Refusal> {
        do throws(Refusal) {
            let selected = await query.selection?.fields(of: page.entries)
            let shown = try await showing(page.entries, in: key, for: viewpoint)
            let naming = try await self.naming(page.entries.users(besides: viewpoint.user), for: shown)
            if viewpoint.access.scope == .private { context.session.answered { $0.answered(page) } }
            let message = ZonePageEncoder.message(context.id, page, selected: selected, seenFrom: naming)
            return .success(ZonePageMessage(message: message, zone: page.zone, end: page.token))
        } catch {
            return .failure(error)
        }
    }

    /// The caller's view of a database whose feed is asked for: the private or the shared one. Also the public one if
    /// the container gives it a feed, which is beyond CloudKit.
    ///
    /// - Parameter reason: why the public database has no feed, if the container gives it none.
    func feedDatabase(
        _ scope: WireDatabaseScope, _ member: SessionMember, without reason: FailureReason
    ) async throws(Refusal) -> Viewpoint {
        guard scope == .public else { return try ownDatabase(scope, isWrite: false, member) }
        guard try await service.feedsEverywhere(in: member.container).orRefusal() else { throw Refusal(reason) }
        return try await recordDatabase(scope, isWrite: false, member)
    }
}

/// An answer with a page that may not be sent.
private struct ZonePageMessage: Sendable {
    let message: [UInt8]
    let zone: ZoneID
    let end: ChangeToken
}
