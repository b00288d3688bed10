// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
package import TidemarkWire

extension ZonesRequest {
    /// A request to create and delete zones in a database of the caller.
    ///
    /// - Throws: ``Refusal``: `tooManyItems`, `requestInvalid`, and `notPermitted` for somebody else's zone in the private
    ///   database.
    package init(_ request: WireModifyZones, by viewpoint: Viewpoint, limits: Limits) throws(Refusal) {
        try ItemCount.check(request.saves.count + request.deletes.count, limits)
        for zone in request.saves + request.deletes
        where viewpoint.access.scope == .private && viewpoint.zoneKey(of: zone) == nil {
            throw Refusal(.notPermitted, "Only a zone's owner creates and deletes it.")
        }
        var scopes: [String: ZoneEncryptionScope] = [:]
        for (zone, scope) in zip(request.saves, request.encryptionScopes) {
            scopes[zone.name] = try ZoneEncryptionScope.read(scope)
        }
        self.init(
            id: try RequestID(request.stamp, from: viewpoint), saves: request.saves.map(\.name),
            deletes: request.deletes.map(\.name), encryptionScopes: scopes)
    }
}

extension WireModifyZonesAnswer {
    /// - Parameter request: the request, for the names of the zones.
    package init(
        _ outcome: ZonesOutcome, to request: ZonesRequest, seenFrom viewpoint: Viewpoint, within limits: Limits
    ) {
        self.init()
        saves = zip(request.saves, outcome.saves).map { name, outcome in
            let zone = WireZoneID(ownZone: name)
            return switch outcome {
            case .done: WireZoneResult(zone, seenFrom: viewpoint)
            case .donePerZone: WireZoneResult(zone, seenFrom: viewpoint, encryptedBy: .perZone)
            case .failed(let reason): WireZoneResult(reason, reason.text(within: limits))
            }
        }
        deletes = outcome.deletes.map { outcome in
            switch outcome {
            case .done, .donePerZone: .success
            case .failed(let reason): WireZoneResult(reason)
            }
        }
    }
}

extension WireFetchZonesAnswer {
    /// - Parameters:
    ///   - results: the zones that exist, and why the others do not.
    ///   - cursor: where the next page of all zones begins, if there is one.
    ///   - shared: the zones that are shared as a whole. All zones of the shared database are.
    ///   - feedsEverywhere: whether the default zone has a feed too.
    /// - Throws: ``Refusal`` with `serverFault` if the viewpoint does not know the owner of a zone.
    package init(
        _ results: [Result<ZoneState, FailureReason>], then cursor: ZonesCursor? = nil,
        shared: Set<ZoneID> = [], seenFrom viewpoint: Viewpoint, feedsEverywhere: Bool = false
    ) throws(Refusal) {
        self.init()
        self.cursor = cursor?.bytes ?? []
        zones = try results.map { result throws(Refusal) -> WireZoneResult in
            switch result {
            case .success(let zone):
                return WireZoneResult(
                    try WireZoneID(zone.key, seenFrom: viewpoint), seenFrom: viewpoint,
                    encryptedBy: zone.encryptionScope, feedsEverywhere: feedsEverywhere,
                    isShared: viewpoint.access.scope == .shared && !zone.hasHierarchies || shared.contains(zone.id))
            case .failure(let reason): return WireZoneResult(reason)
            }
        }
    }
}

extension WireZoneResult {
    fileprivate static var success: Self {
        var result = Self()
        result.done = WireDone()
        return result
    }

    init(
        _ id: WireZoneID, seenFrom viewpoint: Viewpoint, encryptedBy encryption: ZoneEncryptionScope = .perRecord,
        feedsEverywhere: Bool = false, isShared: Bool = false
    ) {
        self.init()
        zone.id = id
        zone.capabilities =
            ZoneCapabilities.of(
                zoneNamed: id.name, in: viewpoint.access.scope, encryptedBy: encryption,
                feedsEverywhere: feedsEverywhere
            ).rawValue
        zone.encryptionScope = encryption == .perZone ? .perZone : .perRecord
        zone.isShared = isShared
    }

    /// - Parameter detail: replaces the reason's own text, if given.
    init(_ reason: FailureReason, _ detail: String? = nil) {
        self.init()
        failure = reason.wire(detail: detail)
    }
}

extension ZoneEncryptionScope {
    /// Nil: not said.
    fileprivate static func read(_ scope: WireEncryptionScope) throws(Refusal) -> ZoneEncryptionScope? {
        switch scope {
        case .unspecified: nil
        case .perRecord: .perRecord
        case .perZone: .perZone
        case .unrecognized: throw Refusal(.requestInvalid, "There is no such encryption scope.")
        }
    }
}
