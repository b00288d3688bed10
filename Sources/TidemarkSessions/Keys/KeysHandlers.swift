// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkService
internal import TidemarkTranslation
internal import TidemarkWire

extension RequestRouter {
    /// Returns the caller's account key, and a page of the keys of zones.
    func fetchKeys(_ request: WireFetchKeys, _ context: RequestContext) async throws(Refusal) -> [UInt8] {
        var viewpoint = try ownDatabase(request.database, isWrite: false, context.member)
        try ItemCount.check(request.zones.count, atMost: limits.keyZonesMax)
        viewpoint = try await knowingOwners(of: request.zones, for: viewpoint, context.member)
        let keys = request.zones.map(viewpoint.zoneKey(of:))
        let zones = keys.compactMap(\.self)
        let found: (account: AccountKey, zones: [Result<[WrappedZoneKey], FailureReason>])
        var given: [ZoneKey: GivenKeys] = [:]
        if viewpoint.access.scope == .shared {
            let shared = try await service.sharedKeys(
                zones: zones, by: viewpoint.access, in: context.member.container.identifier,
                knowsLinks: request.knowsLinks
            ).orRefusal()
            (found, given) = ((shared.account, shared.zones), shared.given)
        } else {
            found = try await service.keys(of: try viewpoint.keyHolder, zones: zones).orRefusal()
        }
        context.note(Self.firstFailure(in: found.zones, of: keys))
        let answer = WireFetchKeysAnswer(found.account, found.zones, of: keys, given: given)
        guard request.inPages || answer.zones.count == keys.count else {
            throw Refusal(
                .tooManyItems,
                "The keys of these zones do not fit into one answer. Ask for fewer at once, or update the client.")
        }
        return ServerMessage.answer(context.id, .fetchKeys(answer))
    }

    /// In the order of the answer, which ends before the first zone that was not read.
    private static func firstFailure(
        in found: [Result<[WrappedZoneKey], FailureReason>], of keys: [ZoneKey?]
    ) -> FailureReason? {
        var rest = found[...]
        for key in keys {
            guard key != nil else { return .zoneNotFound }
            guard let zone = rest.popFirst() else { return nil }
            if let failure = zone.failure { return failure }
        }
        return nil
    }

    /// Saves the account's key, or returns the one that it has.
    func saveAccountKey(_ request: WireSaveAccountKey, _ context: RequestContext) async throws(Refusal) -> [UInt8] {
        let viewpoint = try ownDatabase(.private, isWrite: true, context.member)
        let key = try await service.saveAccountKey(try AccountKey(request.account), of: try viewpoint.keyHolder)
            .orRefusal()
        var answer = WireSaveAccountKeyAnswer()
        answer.account = WireAccountKey(key)
        return ServerMessage.answer(context.id, .saveAccountKey(answer))
    }

    /// Adds a key to a zone, or returns the ones that it has.
    func saveZoneKey(_ request: WireSaveZoneKey, _ context: RequestContext) async throws(Refusal) -> [UInt8] {
        var viewpoint = try ownDatabase(request.database, isWrite: true, context.member)
        viewpoint = try await knowingOwners(of: CollectionOfOne(request.zone), for: viewpoint, context.member)
        let zone = try viewpoint.requiredZoneKey(of: request.zone)
        let newest = request.newestID.isEmpty ? nil : request.newestID
        if request.retiresOlder, viewpoint.access.scope == .shared {
            throw Refusal(.requestInvalid, "Only the zone's owner retires older keys, in the private database.")
        }
        let keys =
            viewpoint.access.scope == .shared
            ? try await service.saveSharedZoneKey(
                WrappedZoneKey(request.key), in: zone, after: newest, by: viewpoint.access,
                in: context.member.container.identifier
            ).orRefusal()
            : try await service.saveZoneKey(
                WrappedZoneKey(request.key), in: zone, after: newest, retiringOlder: request.retiresOlder
            ).orRefusal()
        var answer = WireSaveZoneKeyAnswer()
        answer.keys = WireZoneKeys(keys)
        return ServerMessage.answer(context.id, .saveZoneKey(answer))
    }

    /// Keeps what the owner's device gives to others of a zone's keys, and says who lacks some.
    func grantKeys(_ request: WireGrantKeys, _ context: RequestContext) async throws(Refusal) -> [UInt8] {
        let viewpoint = try ownDatabase(.private, isWrite: true, context.member)
        let zone = try viewpoint.requiredZoneKey(of: request.zone)
        try ItemCount.check(request.grants.count, atMost: KeyGrant.pageMax)
        let last = KeyGrant.place(request.after)
        guard request.after.isEmpty || last != nil else { throw Refusal(.requestInvalid) }
        let names = Set(request.grants.map(\.user))
        guard names.count == request.grants.count else { throw Refusal(.requestInvalid) }
        let persons = try await service.persons(named: names, in: context.member.container).orRefusal()
        let users = Dictionary(persons.map { ($0.value, $0.key) }) { first, _ in first }
        // Whoever is not there any more gets nothing.
        let grants = request.grants.compactMap { grant in users[grant.user].map { KeyGrant(grant, for: $0) } }
        let page = try await service.grantKeys(
            grants, in: zone, by: viewpoint.life, readersAfter: last
        ).orRefusal()
        return ServerMessage.answer(context.id, .grantKeys(WireGrantKeysAnswer(page)))
    }
}

extension Viewpoint {
    /// The user whose account key the request is about.
    fileprivate var keyHolder: UserID {
        get throws(Refusal) {
            guard let user else { throw Refusal(.notAuthenticated) }
            return user
        }
    }
}
