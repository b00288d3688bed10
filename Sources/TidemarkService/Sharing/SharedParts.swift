// SPDX-License-Identifier: Apache-2.0

internal import TidemarkCrypto
internal import TidemarkDomain
internal import TidemarkFairness
internal import TidemarkScheduling

/// The parts of one request, some of which are about zones of others, or about shares.
struct SharedParts: Sendable {
    let service: CloudService
    let owner: WorkOwner
    let asker: Asker
    let gates: SharingGates
    let room: RecordsRoom?

    private enum Begun {
        case queued(AccessLooks.Queued)
        case looking(Answer<AccessLooks.Queued>)
        case failed(FailureReason)

        func outcome() async -> WriteCoordinator.Outcome {
            switch self {
            case .queued(let queued): await queued.value()
            case .looking(let looking): await looking.value().value()
            case .failed(let reason): .failure(reason)
            }
        }
    }

    /// Starts the parts that need nothing else, at once and in order. Then it starts those that save a CKShare.
    func modify(
        _ parts: [RecordsRequest], completing: PartsCompletion?
    ) async -> [Result<RecordsOutcome, FailureReason>] {
        let limits = service.sharedWrites.limitsNow(service.limits)
        var begun: [Begun?] = parts.map { part in
            let waits = part.makesShare(within: limits) || completing != nil && part.savesShare
            return waits ? nil : begin(part)
        }
        let late = begun.indices.filter { begun[$0] == nil }
        var links: [Int: [MadeLink]] = [:]
        if !late.isEmpty {
            let completed = await self.completed(parts, completing)
            for index in late {
                switch await completed.asyncFlatMap({ await givingLink($0[index]) }) {
                case .success(let given): (begun[index], links[index]) = (begin(given.part), given.links)
                case .failure(let reason): begun[index] = .failed(reason)
                }
            }
        }
        let wait = service.storeWatch?.begin()
        var outcomes: [WriteCoordinator.Outcome] = []
        for part in begun { outcomes.append(await part?.outcome() ?? .failure(.serverFault)) }
        wait?.end()
        for index in late {
            for link in links[index] ?? [] {
                outcomes[index] = await outcomes[index].asyncFlatMap { await keeping(link, of: $0) }
            }
        }
        return outcomes
    }

    /// Queues a part, or lets it wait for a look at the access to its zone.
    private func begin(_ part: RecordsRequest) -> Begun {
        let (service, owner, asker, room) = (service, owner, asker, room)
        // NB: a look may end in the task of another request.
        let cause = ChangeCause.current
        let queue = { @Sendable in
            service.writeCoordinator.submit(part, for: owner, askedBy: asker, room: room, cause: cause)
        }
        guard part.access.scope == .shared else { return .queued(queue()) }
        let place = AccessLooks.Place(user: part.user, zone: part.key)
        let looks = service.sharedWrites.accessLooks
        let (looking, isFirst) = looks.admit(part, at: place, now: service.scheduler.now, queue)
        if isFirst {
            let turn = WorkTurn(of: owner, at: gates.reads)
            service.scheduler.run {
                var mustLook = true
                // NB: bounded by the number of those who wait: each is answered by the second look at the latest.
                while mustLook {
                    // Others may wait for this look too, so it goes on after the first asker has left.
                    let mayAsk = await service.inTurn(turn, askedBy: Asker()) { await service.mayAsk(place) }
                    mustLook = looks.conclude(place, mayAsk, of: owner, now: service.scheduler.now)
                }
            }
        }
        return .looking(looking)
    }

    private func completed(
        _ parts: [RecordsRequest], _ completing: PartsCompletion?
    ) async -> Result<[RecordsRequest], FailureReason> {
        guard let completing else { return .success(parts) }
        let turn = WorkTurn(of: owner, at: gates.changes)
        return await service.inTurn(turn, askedBy: asker, completing).flatMap { completed in
            completed.count == parts.count ? .success(ShareLinkSecret.giving(completed)) : .failure(.serverFault)
        }
    }

    /// The same part with a link to its zone, if it makes a share.
    ///
    /// The link leads to the zone before the share is there. A link that no share takes over grants nothing.
    /// A zone that has a link keeps it.
    private func givingLink(
        _ part: RecordsRequest
    ) async -> Result<(part: RecordsRequest, links: [MadeLink]), FailureReason> {
        var part = part
        var links: [MadeLink] = []
        for (name, root) in part.madeShares(within: service.sharedWrites.limitsNow(service.limits)) {
            let secret = ShareLinkSecret.make()
            let hash = SHA256.hash(secret)
            switch await point(hash, to: part.key, root) {
            case .failure(let reason): return .failure(reason)
            case .success(let zone):
                links.append(MadeLink(secretHash: hash, key: part.key, root: root, zone: zone))
                part = part.with(freshSecret: secret, forShareNamed: name)
            }
        }
        return .success((part, links))
    }

    /// The outcome of a part, once its link leads to the zone that was saved in. If the zone was made again before the save, the link still
    /// leads to the old one. If this fails, the client repeats its request, which has the same effect.
    private func keeping(
        _ link: MadeLink, of outcome: RecordsOutcome
    ) async -> Result<RecordsOutcome, FailureReason> {
        guard link.isTakenElsewhere(by: outcome) else { return .success(outcome) }
        return await point(link.secretHash, to: link.key, link.root).map { _ in outcome }
    }

    /// Makes a link lead to a zone. If the zone has a link already, that one is made to lead to it instead.
    private func point(_ secretHash: [UInt8], to key: ZoneKey, _ root: String?) async -> Result<ZoneID, FailureReason> {
        let (storage, countMax) = (service.storage, service.limits.untakenLinksMax)
        let turn = WorkTurn(of: owner, at: gates.changes)
        return await service.inTurn(turn, askedBy: asker) {
            await service.retry.run(askedBy: asker) {
                () async throws(StorageError) -> Result<ZoneID, FailureReason> in
                let zone = try await storage.pointLink(secretHash: secretHash, to: key, root: root, atMost: countMax)
                if let zone { return .success(zone) }
                let removals = try await storage.removals(ofZones: [key.name], in: key.database)
                return .failure(.missingZone(removals[key.name]))
            }
        }
    }
}

extension CloudService {
    /// Whether a user takes part in the zone's share, or is invited to it by name.
    fileprivate func mayAsk(_ place: AccessLooks.Place) async -> Result<Bool, FailureReason> {
        await retry.run { () async throws(StorageError) in
            let read = try await storage.shareAccess(of: place.user, to: place.zone)
            return .success(read?.sharing.hasPlace(of: place.user) ?? false)
        }
    }
}
