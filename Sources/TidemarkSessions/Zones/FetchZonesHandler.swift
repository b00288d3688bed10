// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkService
internal import TidemarkTranslation
internal import TidemarkWire

extension RequestRouter {
    /// Zones by name, or all zones with the default zone.
    func fetchZones(_ request: WireFetchZones, _ context: RequestContext) async throws(Refusal) -> [UInt8] {
        let viewpoint = try await recordDatabase(request.database, isWrite: false, context.member)
        let names = try ZoneNames.read(request.zones, by: viewpoint, limits: limits)
        let results: [Result<ZoneState, FailureReason>]
        if names.isEmpty {
            results = try await service.zones(in: viewpoint.database).orRefusal().map { .success($0) }
        } else {
            var found = try await service.zones(named: names.compactMap(\.self), in: viewpoint.database).orRefusal()[
                ...]
            results = names.map { name in
                guard name != nil, let zone = found.popFirst() else { return .failure(.zoneNotFound) }
                return zone
            }
        }
        let hasDefaultZone = results.contains { (try? $0.get())?.key.name == ZoneName.default }
        let feedsEverywhere =
            hasDefaultZone ? try await service.feedsEverywhere(in: context.member.container).orRefusal() : false
        return ServerMessage.answer(
            context.id,
            .fetchZones(
                WireFetchZonesAnswer(results, in: viewpoint.access.scope, feedsEverywhere: feedsEverywhere)))
    }
}
