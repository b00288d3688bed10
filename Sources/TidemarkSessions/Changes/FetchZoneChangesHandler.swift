// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkService
internal import TidemarkTranslation
internal import TidemarkWire

extension RequestRouter {
    /// One page of a zone's feed (R-208 … R-215).
    func fetchZoneChanges(_ request: WireFetchZoneChanges, _ context: RequestContext) async throws(Refusal) -> [UInt8] {
        // what is in the public database has no feed.
        if request.database == .public { throw Refusal(.feedUnavailable) }
        let viewpoint = try privateDatabase(request.database, isWrite: false, context.member)
        let query = try ZoneChangesQuery(request, by: viewpoint)
        guard let zoneName = query.zoneName else { throw Refusal(.zoneNotFound) }
        let page = try await service.zoneChanges(
            in: ZoneKey(database: viewpoint.database, name: zoneName), token: query.token, recordsMax: query.limit,
            device: viewpoint.device, tellsEnds: query.tellsEnds
        ).orRefusal()
        return ZonePageEncoder.message(context.id, page, selection: query.selection, seenFrom: viewpoint)
    }
}
