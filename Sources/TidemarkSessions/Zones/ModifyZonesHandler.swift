// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkService
internal import TidemarkTranslation
internal import TidemarkWire

extension RequestRouter {
    /// Creates and deletes zones (R-020 … R-033). In the shared database to delete a zone is to leave it.
    ///
    /// - Throws: ``Refusal``: `wrongDatabase` to create them in a database that is not private.
    func modifyZones(_ request: WireModifyZones, _ context: RequestContext) async throws(Refusal) -> [UInt8] {
        let viewpoint = try ownDatabase(request.database, isWrite: true, context.member)
        let zones = try ZonesRequest(request, by: viewpoint, limits: limits)
        let outcome: ZonesOutcome
        if viewpoint.access.scope == .private {
            outcome = try await service.modifyZones(
                in: viewpoint.database, zones, for: context.member.owner, askedBy: context.session.asker
            )
            .orRefusal()
        } else {
            guard zones.saves.isEmpty else { throw Refusal(.wrongDatabase) }
            outcome = ZonesOutcome(saves: [], deletes: try await leave(request.deletes, viewpoint, context))
        }
        context.note(outcome.firstFailure)
        let answer = WireModifyZonesAnswer(outcome, to: zones, seenFrom: viewpoint, within: limits)
        return ServerMessage.answer(context.id, .modifyZones(answer))
    }

    /// Leaving has no memory of its own: whoever has left is out, and is so again.
    private func leave(
        _ zones: [WireZoneID], _ viewpoint: Viewpoint, _ context: RequestContext
    ) async throws(Refusal) -> [ZoneItemOutcome] {
        let viewpoint = try await knowingOwners(
            of: zones, for: viewpoint, context.member, at: ownersLook(context, after: context.session.ownersOrder))
        let keys = zones.map(viewpoint.zoneKey(of:))
        var left = await service.leaveZones(
            keys.compactMap(\.self), for: try viewpoint.linkBearer, askedBy: context.session.asker,
            in: WorkTurn(of: context.member.owner, at: gates[.change]))[...]
        return keys.map { key in
            // deleting a zone that does not exist succeeds.
            guard key != nil, case .failure(let reason)? = left.popFirst() else { return .done }
            return .failed(reason)
        }
    }
}
