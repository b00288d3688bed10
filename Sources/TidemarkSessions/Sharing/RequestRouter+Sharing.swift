// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkService
internal import TidemarkTranslation
internal import TidemarkWire

// What a viewpoint must know before a request about shared zones or shares is read, and before its answer is written. That is
// the owners of zones, the people who are invited, and what comes with CKShare records. In the private database this costs
// nothing unless a share
// is among the records.

extension RequestRouter {
    /// The same view, which also knows the owners whom a request names with zones of the shared database.
    ///
    /// I-5: an owner who does not exist gets a database that does not exist. So the request takes the same way as one that
    /// names a zone of somebody who shares nothing with the caller, and its answer is the same.
    ///
    /// - Parameter look: nil if the request has its turn already.
    func knowingOwners(
        of zones: some Sequence<WireZoneID>, for viewpoint: Viewpoint, _ member: SessionMember,
        at look: @autoclosure () -> OwnersLook? = nil
    ) async throws(Refusal) -> Viewpoint {
        guard viewpoint.access.scope == .shared else { return viewpoint }
        let names = ownerNames(of: zones)
        let owners = try await service.zoneOwners(named: names, in: member.container, at: look()).orRefusal()
        return viewpoint.knowing(owners).knowingNobody(named: names.subtracting(owners.map(\.recordName)))
    }

    /// Whether that takes no read of the store.
    func knowsOwners(of zones: some Sequence<WireZoneID>, for viewpoint: Viewpoint, _ member: SessionMember) -> Bool {
        viewpoint.access.scope != .shared || service.knowsOwners(named: ownerNames(of: zones), in: member.container)
    }

    /// A request with more zones is refused when it is read.
    private func ownerNames(of zones: some Sequence<WireZoneID>) -> Set<String> {
        Set(zones.lazy.map(\.owner).prefix(limits.itemsMax))
    }

    /// How a request that has no turn yet looks up the owners whom it names.
    ///
    /// - Parameter order: of the connection's requests. Nil: the request has its place there already.
    func ownersLook(_ context: RequestContext, after order: OwnersOrder?) -> OwnersLook {
        OwnersLook(
            in: WorkTurn(of: context.member.owner, at: gates[.fetch]), askedBy: context.session.asker, after: order)
    }

    /// The same view, which also knows the owners of the zones that an answer names.
    func knowingOwners(
        of databases: @autoclosure () -> Set<DatabaseID>, for viewpoint: Viewpoint
    ) async throws(Refusal) -> Viewpoint {
        guard viewpoint.access.scope == .shared else { return viewpoint }
        let unknown = databases().subtracting(viewpoint.zoneOwners.keys)
        let owners = try await service.zoneOwners(of: unknown).orRefusal()
        // Every zone that can be shared has an owner.
        guard owners.count == unknown.count else { throw Refusal(.serverFault) }
        return viewpoint.knowing(owners)
    }

    /// Reads a request again once the users whom it invites are known. Nil if it invites nobody by name.
    func completion(
        of request: WireModifyRecords, for viewpoint: Viewpoint, _ member: SessionMember
    ) -> PartsCompletion? {
        let (invited, answered) = request.namedUsers
        guard !invited.isEmpty || !answered.isEmpty else { return nil }
        return {
            // no share has more. Several shares can come in several requests.
            var names = invited.reduce(into: Set()) { $0.formUnion($1) }
            guard names.count <= limits.participantsMax else {
                return .failure(invited.count == 1 ? .tooManyParticipants : .tooManyItems)
            }
            guard answered.count <= limits.accessRequestsMax + limits.blockedMax else { return .failure(.tooManyItems) }
            names.formUnion(answered)
            var viewpoint = viewpoint
            switch await service.persons(named: names, in: member.container) {
            case .success(let users): viewpoint.userNames.merge(users) { $1 }
            case .failure(let reason): return .failure(reason)
            }
            do throws(Refusal) {
                return .success(try await partsInTurns(of: request, by: viewpoint).compactMap(\.request))
            } catch {
                return .failure(error.code)
            }
        }
    }

    // MARK: What comes with CKShare records

    /// The same view, which also knows the share of the zone if its CKShare record is among these.
    ///
    /// The share is read after the records. If the caller has lost access by then, or the share has ended, the record comes
    /// without it. No other reason may leave it out: an app that saves such a record would remove everybody.
    ///
    /// - Throws: ``Refusal``: why the share cannot be read now.
    func showing(
        _ records: [RecordState], in key: ZoneKey, for viewpoint: Viewpoint
    ) async throws(Refusal) -> Viewpoint {
        guard records.haveShare else { return viewpoint }
        return try await showingShares(of: [key.name], in: key.database, named: records.shareNames, for: viewpoint)
    }

    /// The same for records that were fetched by name, which come with the shares of their zone.
    func showing(_ lookup: RecordsLookup, for viewpoint: Viewpoint) async throws(Refusal) -> Viewpoint {
        guard let sharing = lookup.sharing else { return viewpoint }
        let records = lookup.records.compactMap { try? $0.get() }
        return try await showing([lookup.zone.id: sharing], named: records.shareNames, for: viewpoint)
    }

    /// The same for what a query found, if it looked for shares.
    func showing(
        _ page: QueryPage, of search: RecordsSearch, for viewpoint: Viewpoint
    ) async throws(Refusal) -> Viewpoint {
        guard Share.isType(search.query.recordType), !page.matches.isEmpty else { return viewpoint }
        let names = Set(page.matches.map(\.zoneName))
        let records = page.matches.map(\.record)
        return try await showingShares(of: names, in: search.database, named: records.shareNames, for: viewpoint)
    }

    /// The same for the CKShare records that requests saved, or that were in their way. If this fails, what was saved stays
    /// saved, and the client repeats its request.
    ///
    /// Shares are read together, until they have as many bytes as the answer may have. The other CKShare records are taken
    /// out of the outcomes, and the client fetches them.
    func showing(
        _ requests: [RecordsRequest], _ outcomes: [Result<RecordsOutcome, FailureReason>], for viewpoint: Viewpoint,
        bytesMax: Int
    ) async throws(Refusal) -> (viewpoint: Viewpoint, outcomes: [Result<RecordsOutcome, FailureReason>]) {
        var (viewpoint, outcomes) = (viewpoint, outcomes)
        let shareNames = outcomes.reduce(into: Set<String>()) { names, outcome in
            if case .success(let outcome) = outcome { names.formUnion(outcome.shownRecords.shareNames) }
        }
        var unread = zip(requests, outcomes).enumerated().compactMap { index, part -> (index: Int, key: ZoneKey)? in
            guard part.0.savesShare, case .success(let outcome) = part.1,
                outcome.shownRecords.haveShare
            else { return nil }
            return (index, part.0.key)
        }
        while let first = unread.first,
            viewpoint.shares.values.reduce(0, { $0 + $1.values.reduce(0) { $0 + $1.byteCount } }) < bytesMax
        {
            let together = unread.prefix { $0.key.database == first.key.database }.prefix(limits.pageSharesMax)
            unread.removeFirst(together.count)
            viewpoint = try await showingShares(
                of: Set(together.map { $0.key.name }), in: first.key.database, named: shareNames, for: viewpoint)
        }
        for part in unread { outcomes[part.index] = outcomes[part.index].map(\.withholdingShares) }
        return (viewpoint, outcomes)
    }

    /// Each share may have a hundred participants, so a few are read at once: of some zones, and in each of these as many
    /// as one of hierarchies may have of them.
    private func showingShares(
        of names: Set<String>, in database: DatabaseID, named shareNames: Set<String>, for viewpoint: Viewpoint
    ) async throws(Refusal) -> Viewpoint {
        var (viewpoint, rest) = (viewpoint, names.sorted()[...])
        let (sorted, countMax) = (shareNames.sorted(), max(1, limits.sharesTogetherMax))
        while !rest.isEmpty {
            let together = Set(rest.prefix(countMax))
            rest = rest.dropFirst(countMax)
            for start in stride(from: 0, to: sorted.count, by: countMax) {
                let named = Set(sorted[start...].prefix(countMax))
                let shares = try await service.shares(of: together, in: database, named: named, by: viewpoint.access)
                    .orRefusal()
                viewpoint = try await showing(shares, named: named, for: viewpoint)
            }
        }
        return viewpoint
    }

    private func showing(
        _ shares: [ZoneID: ZoneSharing], named names: Set<String>, for viewpoint: Viewpoint
    ) async throws(Refusal) -> Viewpoint {
        guard let user = viewpoint.user else { return viewpoint }
        var viewpoint = viewpoint
        var users: Set<UserID> = []
        for (zone, sharing) in shares {
            let shown = sharing.shownShares(named: names, to: user)
            guard !shown.isEmpty else { continue }
            viewpoint.shares[zone, default: [:]].merge(shown) { $1 }
            for share in shown.values { users.formUnion(share.users(besides: user)) }
        }
        return try await naming(users, for: viewpoint)
    }
}

extension WireModifyRecords {
    /// For each save of a share that invites people by name: their names. And those whom any save answers.
    fileprivate var namedUsers: (invited: [Set<String>], answered: Set<String>) {
        var names: [Set<String>] = []
        var answered: Set<String> = []
        // NB: looked at in place, because most requests have no share, and a save has many parts to copy.
        for zone in zones.indices {
            for save in zones[zone].saves.indices where zones[zone].saves[save].hasShare {
                let named = ShareSave.namedUsers(in: zones[zone].saves[save])
                if !named.invited.isEmpty { names.append(Set(named.invited)) }
                answered.formUnion(named.answered)
            }
        }
        return (names, answered)
    }
}

extension Viewpoint {
    fileprivate func knowing(_ owners: [ZoneOwner]) -> Viewpoint {
        guard !owners.isEmpty else { return self }
        var viewpoint = self
        for owner in owners { viewpoint.zoneOwners[owner.privateDatabase] = owner.recordName }
        return viewpoint
    }

    /// The numbers of databases begin with 1. Each name has a number of its own, as names of owners have, because a request
    /// that names one zone twice is refused.
    fileprivate func knowingNobody(named names: Set<String>) -> Viewpoint {
        guard !names.isEmpty else { return self }
        var viewpoint = self
        for (index, name) in names.sorted().enumerated() {
            viewpoint.zoneOwners[DatabaseID(-Int64(index))] = name
        }
        return viewpoint
    }

    /// The caller, as somebody who brings links.
    var linkBearer: LinkBearer {
        get throws(Refusal) {
            guard let user else { throw Refusal(.notAuthenticated) }
            return LinkBearer(user: user, viewer: database, life: access.marking(life))
        }
    }
}

extension [RecordState] {
    /// Whether a CKShare record is among them.
    fileprivate var haveShare: Bool {
        // NB: looked at in place, as in ``users(besides:)``.
        withUnsafeBufferPointer { records in
            records.indices.contains { !records[$0].isDeleted && Share.isType(records[$0].type) }
        }
    }
}

extension [RecordState] {
    /// The names of the CKShare records among them.
    fileprivate var shareNames: Set<String> {
        Set(lazy.filter { !$0.isDeleted && Share.isType($0.type) }.map(\.name))
    }
}

extension RecordsOutcome {
    /// The same without CKShare records.
    fileprivate var withholdingShares: RecordsOutcome { withholding { Share.isType($0.type) } }

    /// The records that come with the outcome.
    fileprivate var shownRecords: [RecordState] { saves.compactMap(\.record) }
}
