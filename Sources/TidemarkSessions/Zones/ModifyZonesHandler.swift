// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkService
internal import TidemarkTranslation
internal import TidemarkWire

extension RequestRouter {
    /// Creates and deletes zones (R-020 … R-033).
    func modifyZones(_ request: WireModifyZones, _ context: RequestContext) async throws(Refusal) -> [UInt8] {
        let viewpoint = try privateDatabase(request.database, isWrite: true, context.member)
        let zones = try ZonesRequest(request, by: viewpoint, limits: limits)
        let outcome = try await service.modifyZones(in: viewpoint.database, zones).orRefusal()
        return ServerMessage.answer(context.id, .modifyZones(WireModifyZonesAnswer(outcome, to: zones)))
    }
}
