// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkService
internal import TidemarkTranslation
internal import TidemarkWire

extension RequestRouter {
    /// What a zone has, for a device that compares it with what it has.
    func verifyZone(_ request: WireVerifyZone, _ context: RequestContext) async throws(Refusal) -> [UInt8] {
        var viewpoint = try ownDatabase(request.database, isWrite: false, context.member)
        viewpoint = try await knowingOwners(of: CollectionOfOne(request.zone), for: viewpoint, context.member)
        guard let key = viewpoint.zoneKey(of: request.zone) else { throw Refusal(.zoneNotFound) }
        let page = try await service.inventory(
            of: key, by: viewpoint.access, listsAfter: request.lists ? request.after : nil
        ).orRefusal()
        return ServerMessage.answer(
            context.id, .verifyZone(WireVerifyZoneAnswer(page.inventory, token: page.token)))
    }
}
