// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
package import TidemarkDomain
internal import TidemarkFields
internal import TidemarkScheduling

extension CloudService {
    /// Accepts the shares to which links lead: one result for each, in order, as the user sees the share
    /// afterwards. Repeating it does no harm.
    ///
    /// - Parameters:
    ///   - secrets: of the links. Nil: a text that is no link.
    ///   - asker: who waits. What failed is not tried again when it has left.
    package func acceptShares(
        ofLinks secrets: [[UInt8]?], for bearer: LinkBearer, askedBy asker: Asker = Asker()
    ) async -> Result<[Result<ShareMetadata, FailureReason>], FailureReason> {
        guard secrets.count <= limits.itemsMax else { return .failure(.tooManyItems) }
        return await visitor(bearer).asyncMap { visitor in
            var results: [Result<ShareMetadata, FailureReason>] = []
            var room = limits.answerBytesMax
            for secret in secrets {
                guard room > 0 else {
                    results.append(.failure(.tooMuchAtOnce))
                    continue
                }
                let result = await accept(secret, as: visitor, for: bearer, askedBy: asker)
                if case .success(let metadata) = result { room -= metadata.record.fields.byteCount }
                results.append(result)
            }
            return results
        }
    }

    /// Declines the shares to which links lead, or leaves them. What is not there is declined as well, so that
    /// nobody learns of it.
    package func declineShares(
        ofLinks secrets: [[UInt8]?], for bearer: LinkBearer, askedBy asker: Asker = Asker()
    ) async -> Result<[Result<Void, FailureReason>], FailureReason> {
        guard secrets.count <= limits.itemsMax else { return .failure(.tooManyItems) }
        return await visitor(bearer).asyncMap { visitor in
            var results: [Result<Void, FailureReason>] = []
            for secret in secrets {
                let opened = await retry.run(askedBy: asker) { () async throws(StorageError) in
                    .success(try await openedLink(secret, for: visitor, in: bearer.viewer))
                }
                let declined = await opened.asyncMap { opened in
                    guard let key = opened?.read.zone.key else { return Result<Void, FailureReason>.success(()) }
                    return await perform(.decline(visitor), on: key, for: bearer, askedBy: asker).map { _ in () }
                }
                results.append(declined.flatMap { $0 })
            }
            return results
        }
    }

    /// Leaves zones of others: one result for each, in order. Leaving what is not there succeeds.
    package func leaveZones(
        _ keys: [ZoneKey], for bearer: LinkBearer, askedBy asker: Asker = Asker()
    ) async -> [Result<Void, FailureReason>] {
        var results: [Result<Void, FailureReason>] = []
        for key in keys {
            guard ZoneName.isValid(key.name, limits: limits) else {
                results.append(.success(()))
                continue
            }
            results.append(
                await perform(.leave(bearer.user), on: key, for: bearer, askedBy: asker).map { _ in () })
        }
        return results
    }

    private func accept(
        _ secret: [UInt8]?, as visitor: ShareVisitor, for bearer: LinkBearer, askedBy asker: Asker
    ) async -> Result<ShareMetadata, FailureReason> {
        let id = ParticipantID(high: scheduler.randomBits(), low: scheduler.randomBits())
        let pointed = await retry.run(askedBy: asker) {
            () async throws(StorageError) -> Result<ZoneKey, FailureReason> in
            guard let opened = try await openedLink(secret, for: visitor, in: bearer.viewer) else {
                return .failure(.shareUnknown)
            }
            if case .owner = opened.entry { return .failure(.shareIsOwn) }
            let key = opened.read.zone.key
            // Before the acceptance: if the server ends in between, the pointer leads to nothing that is accessible.
            switch try await storage.pointViewer(bearer.viewer, to: key, atMost: limits.sharedZonesMax) {
            case .done: return .success(key)
            case .zoneMissing: return .failure(.shareUnknown)
            case .full: return .failure(.tooManySharedZones)
            }
        }
        switch pointed {
        case .failure(let reason): return .failure(reason)
        case .success(let key):
            let accepted = await perform(.accept(visitor, as: id), on: key, for: bearer, askedBy: asker)
            if case .failure(let reason) = accepted { return .failure(reason) }
            return await shareMetadata(ofLink: secret, for: visitor, in: bearer.viewer)
        }
    }

    /// Changes a zone's share in a transaction of its own, and tells everybody whom it concerns.
    ///
    /// What has been done already is done again without a change, so each action may be repeated.
    private func perform(
        _ action: ShareAction, on key: ZoneKey, for bearer: LinkBearer, askedBy asker: Asker
    ) async -> Result<ShareActionPlan, FailureReason> {
        // After an attempt of which nobody knows whether it took place, everybody is told.
        var isUndecided = false
        return await retry.run(askedBy: asker) { () async throws(StorageError) in
            let transaction = try await storage.beginWrite([ShareAction.read(of: key)])
            let planned = transaction.snapshots.first.map { snapshot in
                action.plan(
                    on: snapshot, store: transaction.store,
                    now: Timestamp(milliseconds: scheduler.wallClockMilliseconds), limits: limits)
            }
            let before = transaction.snapshots.first?.zone?.changeNumber ?? 0
            guard case .success(let plan)? = planned, let changes = plan.changes else {
                await transaction.rollback()
                if isUndecided { tell(of: key, growth: nil, bearer) }
                return planned ?? .failure(.serverFault)
            }
            isUndecided = true
            try await transaction.commit([changes])
            // The next write of this process reads the zone again.
            sharedWrites.knownZones.withLock { $0.forget([key]) }
            tell(of: key, growth: changes.changeNumber - before, bearer)
            return .success(plan)
        }
    }

    /// The zone's feed has the change, and the list of the user's shared database may have another zone. All of the user's
    /// devices are told of the latter, because another connection may have made it than the one that fetches.
    private func tell(of key: ZoneKey, growth: ChangeNumber?, _ bearer: LinkBearer) {
        var growths: [DatabaseID: Int64] = [:]
        growths[key.database] = growth
        onMoved(
            ZonesMoved(
                [
                    ZoneNotice(database: key.database, life: bearer.life, zoneName: key.name),
                    ZoneNotice(database: bearer.viewer, life: .nobody, zoneName: ""),
                ], growth: growths))
    }
}
