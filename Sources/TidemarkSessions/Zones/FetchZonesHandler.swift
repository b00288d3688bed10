// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkService
internal import TidemarkTranslation
internal import TidemarkWire

extension RequestRouter {
    /// Zones by name, or a page of all zones with the default zone.
    func fetchZones(_ request: WireFetchZones, _ context: RequestContext) async throws(Refusal) -> [UInt8] {
        var viewpoint = try await recordDatabase(request.database, isWrite: false, context.member)
        viewpoint = try await knowingOwners(of: request.zones, for: viewpoint, context.member)
        let keys = try ZoneNames.read(request.zones, by: viewpoint, limits: limits)
        let results: [Result<ZoneState, FailureReason>]
        var cursor: ZonesCursor?
        if keys.isEmpty {
            guard case .success(let start) = ZonesCursor.opened(request.cursor, in: viewpoint.database) else {
                throw Refusal(.cursorInvalid, "The cursor is damaged. Fetch the zones again from the first page.")
            }
            let page = try await zonesPage(by: viewpoint, after: start)
            results = page.zones.map { .success($0) }
            cursor = page.cursor
        } else {
            var found = try await zones(named: keys.compactMap(\.self), by: viewpoint)[...]
            results = keys.map { key in
                guard key != nil, let zone = found.popFirst() else { return .failure(.zoneNotFound) }
                return zone
            }
        }
        context.note(results.lazy.compactMap(\.failure).first)
        let living = results.compactMap { try? $0.get() }
        let hasDefaultZone = living.contains { $0.key.name == ZoneName.default }
        let feedsEverywhere =
            hasDefaultZone ? try await service.feedsEverywhere(in: context.member.container).orRefusal() : false
        let shared = Set(living.filter(\.isShared).map(\.id))
        viewpoint = try await knowingOwners(of: Set(living.map(\.key.database)), for: viewpoint)
        let answer = try WireFetchZonesAnswer(
            results, then: cursor, shared: shared, seenFrom: viewpoint, feedsEverywhere: feedsEverywhere)
        return ServerMessage.answer(context.id, .fetchZones(answer))
    }

    private func zonesPage(
        by viewpoint: Viewpoint, after start: ZonesCursor?
    ) async throws(Refusal) -> ZonesPage {
        guard viewpoint.access.scope == .shared, let user = viewpoint.user else {
            return try await service.zonesPage(in: viewpoint.database, after: start).orRefusal()
        }
        return try await service.sharedZonesPage(of: viewpoint.database, for: user, after: start).orRefusal()
    }

    private func zones(
        named keys: [ZoneKey], by viewpoint: Viewpoint
    ) async throws(Refusal) -> [Result<ZoneState, FailureReason>] {
        guard viewpoint.access.scope == .shared, let user = viewpoint.user else {
            return try await service.zones(keys).orRefusal()
        }
        return try await service.sharedZones(keys, for: user).orRefusal()
    }
}
