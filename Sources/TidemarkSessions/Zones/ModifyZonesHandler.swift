// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkService
internal import TidemarkTranslation
internal import TidemarkWire

extension RequestRouter {
    /// Creates and deletes zones (R-020 … R-033).
    ///
    /// - Throws: ``Refusal``: `wrongDatabase` to create them in a database that is not private.
    func modifyZones(_ request: WireModifyZones, _ context: RequestContext) async throws(Refusal) -> [UInt8] {
        let viewpoint = try ownDatabase(request.database, isWrite: true, context.member)
        let zones = try ZonesRequest(request, by: viewpoint, limits: limits)
        guard viewpoint.access.scope == .private else {
            guard zones.saves.isEmpty else { throw Refusal(.wrongDatabase) }
            // the database has no zones, and deleting one that does not exist succeeds.
            let outcome = ZonesOutcome(saves: [], deletes: zones.deletes.map { _ in .done })
            let answer = WireModifyZonesAnswer(outcome, to: zones, seenFrom: viewpoint, within: limits)
            return ServerMessage.answer(context.id, .modifyZones(answer))
        }
        let outcome = try await service.modifyZones(
            in: viewpoint.database, zones, for: context.member.owner, askedBy: context.session.asker
        )
        .orRefusal()
        let answer = WireModifyZonesAnswer(outcome, to: zones, seenFrom: viewpoint, within: limits)
        return ServerMessage.answer(context.id, .modifyZones(answer))
    }
}
