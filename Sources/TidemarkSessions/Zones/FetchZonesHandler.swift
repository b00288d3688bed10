// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkService
internal import TidemarkTranslation
internal import TidemarkWire

extension RequestRouter {
    /// Zones by name, or a page of all zones with the default zone.
    func fetchZones(_ request: WireFetchZones, _ context: RequestContext) async throws(Refusal) -> [UInt8] {
        let viewpoint = try await recordDatabase(request.database, isWrite: false, context.member)
        let keys = try ZoneNames.read(request.zones, by: viewpoint, limits: limits)
        let results: [Result<ZoneState, FailureReason>]
        var cursor: ZonesCursor?
        if keys.isEmpty {
            guard case .success(let start) = ZonesCursor.opened(request.cursor, in: viewpoint.database) else {
                throw Refusal(.cursorInvalid, "The cursor is damaged. Fetch the zones again from the first page.")
            }
            let page = try await service.zonesPage(in: viewpoint.database, after: start).orRefusal()
            results = page.zones.map { .success($0) }
            cursor = page.cursor
        } else {
            var found = try await service.zones(keys.compactMap(\.self)).orRefusal()[...]
            results = keys.map { key in
                guard key != nil, let zone = found.popFirst() else { return .failure(.zoneNotFound) }
                return zone
            }
        }
        let hasDefaultZone = results.contains { (try? $0.get())?.key.name == ZoneName.default }
        let feedsEverywhere =
            hasDefaultZone ? try await service.feedsEverywhere(in: context.member.container).orRefusal() : false
        return ServerMessage.answer(
            context.id,
            .fetchZones(
                WireFetchZonesAnswer(
                    results, then: cursor, seenFrom: viewpoint, feedsEverywhere: feedsEverywhere)))
    }
}
