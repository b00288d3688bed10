// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
package import TidemarkDomain
internal import TidemarkFairness
internal import TidemarkScheduling

extension CloudService {
    /// Accepts the shares to which links lead: one result for each, in order, as the user sees the share
    /// afterwards. Repeating it does no harm. A share that is accepted but has no room in the answer is `tooMuchAtOnce`.
    ///
    /// - Parameters:
    ///   - secrets: of the links. Nil: a text that is not a link.
    ///   - asker: who waits. Nothing is begun or tried again when it has left.
    ///   - turn: each acceptance waits for it again.
    ///   - reading: in which all shares are read at the end, so that none are held while acceptances wait. The
    ///     caller gives its place back once the answer is made.
    package func acceptShares(
        ofLinks secrets: [[UInt8]?], for bearer: LinkBearer, askedBy asker: Asker = Asker(),
        in turn: WorkTurn = WorkTurn(of: .nobody), reading: WorkTurn = WorkTurn(of: .nobody)
    ) async -> Result<[Result<ShareMetadata, FailureReason>], FailureReason> {
        guard secrets.count <= limits.itemsMax else { return .failure(.tooManyItems) }
        return await inTurn(turn, askedBy: asker) { await visitor(bearer) }.asyncFlatMap { visitor in
            let accepted = await eachInTurn(secrets, turn, askedBy: asker) { secret in
                await accept(secret, as: visitor, for: bearer, in: turn, askedBy: asker).map { secret }
            }
            let links = accepted.compactMap { try? $0.get() }
            guard !links.isEmpty else { return .success(accepted.map { $0.flatMap { _ in .failure(.serverFault) } }) }
            do throws(StorageError) { try await reading.enter() } catch { return .failure(error.code.reason) }
            return await shareMetadata(ofLinks: links, for: bearer, askedBy: asker).map { found in
                var found = found[...]
                return accepted.map { $0.flatMap { _ in found.popFirst() ?? .failure(.serverFault) } }
            }
        }
    }

    /// Declines the shares to which links lead, or leaves them. A share that does not exist is declined as
    /// well, so that nobody learns it.
    package func declineShares(
        ofLinks secrets: [[UInt8]?], for bearer: LinkBearer, askedBy asker: Asker = Asker(),
        in turn: WorkTurn = WorkTurn(of: .nobody)
    ) async -> Result<[Result<Void, FailureReason>], FailureReason> {
        guard secrets.count <= limits.itemsMax else { return .failure(.tooManyItems) }
        return await inTurn(turn, askedBy: asker) { await visitor(bearer) }.asyncMap { visitor in
            await eachInTurn(secrets, turn, askedBy: asker) { secret in
                let opened = await retry.run(askedBy: asker) { () async throws(StorageError) in
                    .success(try await openedLink(secret, for: visitor, in: bearer.viewer))
                }
                return await opened.asyncFlatMap { opened in
                    guard let opened else { return .success(()) }
                    // A user who may join has no row that could end, by name or by address. Nobody in the zone waits
                    // for them.
                    if case .publicUser = opened.entry { return .success(()) }
                    let action = ShareAction.decline(opened.visitor)
                    let key = opened.read.zone.key
                    return await perform(action, on: key, for: bearer, in: turn, askedBy: asker).map { _ in () }
                }
            }
        }
    }

    /// Leaves zones of other users: one result for each, in order. Leaving a zone that does not exist
    /// succeeds.
    ///
    /// Access is first read without a lock. A user who takes no part waits for nobody, and learns nothing from the
    /// wait.
    package func leaveZones(
        _ keys: [ZoneKey], for bearer: LinkBearer, askedBy asker: Asker = Asker(),
        in turn: WorkTurn = WorkTurn(of: .nobody)
    ) async -> [Result<Void, FailureReason>] {
        let caller = RecordAccess(scope: .shared, user: bearer.user)
        return await eachInTurn(keys, turn, askedBy: asker) { key in
            switch await access(to: key, by: caller) {
            case .failure(.zoneNotFound): return .success(())
            case .failure(let reason): return .failure(reason)
            case .success:
                let action = ShareAction.leave(bearer.user)
                return await perform(action, on: key, for: bearer, in: turn, askedBy: asker).map { _ in () }
            }
        }
    }

    /// An operator ends the share of a zone, or one participant's part in it.
    ///
    /// - Returns: whether there was something to end.
    package func revokeShare(
        of key: ZoneKey, participant: ParticipantID?
    ) async -> Result<Bool, FailureReason> {
        guard let participant else {
            return await perform(.end, on: key, for: nil, in: WorkTurn(of: .nobody), askedBy: Asker())
        }
        return await performInSteps(on: key, isOnce: true) { .remove(participant, in: $0) }
    }

    /// Ends what somebody whose account ends has in the share of a zone.
    ///
    /// - Returns: whether there was something to end.
    package func forget(_ person: EndedPerson, in key: ZoneKey) async -> Result<Bool, FailureReason> {
        await performInSteps(on: key) { .forget(person, in: $0) }
    }

    /// Carries out an action on a zone's shares, a few at a time. A zone may have a thousand of them with a hundred people each.
    /// Reading all of them at once would hold the event loop, and the zone's lock, for long.
    ///
    /// Shares that are made during this are not visited. So an account has no session any more when it is forgotten for the last time.
    ///
    /// - Parameter isOnce: whether the first change is the last one.
    /// - Returns: whether something was changed. Once one step fails, the others are not carried out.
    private func performInSteps(
        on key: ZoneKey, isOnce: Bool = false, _ action: (ShareChoice) -> ShareAction
    ) async -> Result<Bool, FailureReason> {
        let found = await retry.run { () async throws(StorageError) -> Result<[String], FailureReason> in
            let sharing = try await storage.sharings(of: [key], .access(of: [])).first?.sharing
            return .success(sharing?.livingShares.map(\.recordName) ?? [])
        }
        return await found.asyncFlatMap { names in
            var (rest, hasChanged) = (names[...], false)
            // Without shares once as well: it says whether the zone is there.
            repeat {
                let choice = ShareChoice(names: Set(rest.prefix(max(1, limits.sharesTogetherMax))))
                rest = rest.dropFirst(max(1, limits.sharesTogetherMax))
                let step = await perform(
                    action(choice), on: key, for: nil, in: WorkTurn(of: .nobody), askedBy: Asker())
                switch step {
                case .success(let isChanged): hasChanged = hasChanged || isChanged
                case .failure(let reason): return .failure(reason)
                }
            } while !rest.isEmpty && !(isOnce && hasChanged)
            return .success(hasChanged)
        }
    }

    private func accept(
        _ secret: [UInt8]?, as visitor: ShareVisitor, for bearer: LinkBearer, in turn: WorkTurn,
        askedBy asker: Asker
    ) async -> Result<Void, FailureReason> {
        let id = ParticipantID(high: scheduler.randomBits(), low: scheduler.randomBits())
        let pointed = await retry.run(askedBy: asker) {
            () async throws(StorageError) -> Result<OpenedLink, FailureReason> in
            guard let opened = try await openedLink(secret, for: visitor, in: bearer.viewer) else {
                return .failure(.shareUnknown)
            }
            if case .owner = opened.entry { return .failure(.shareIsOwn) }
            let key = opened.read.zone.key
            // Before the acceptance: if the server ends in between, the pointer leads to nothing that is accessible.
            switch try await storage.pointViewer(bearer.viewer, to: key, atMost: limits.sharedZonesMax) {
            case .done: return .success(opened)
            case .zoneMissing: return .failure(.shareUnknown)
            case .full: return .failure(.tooManySharedZones)
            }
        }
        return await pointed.asyncFlatMap { opened in
            // The read is complete, and the decision under the zone's lock would write nothing for a participant. If they are removed in
            // between, the result is as if they had accepted before that.
            if case .participant = opened.entry { return .success(()) }
            let action = ShareAction.accept(opened.visitor, as: id)
            let key = opened.read.zone.key
            return await perform(action, on: key, for: bearer, in: turn, askedBy: asker).map { _ in () }
        }
    }

    /// Changes a zone's share in a separate transaction, and tells everybody concerned.
    ///
    /// Each action may be repeated: a step that is already done changes nothing.
    ///
    /// - Parameters:
    ///   - bearer: nil: an operator does it.
    ///   - turn: its place is given back. An action that waits for the zone's turn or for a connection does not
    ///     keep out others that need neither.
    /// - Returns: whether something was changed.
    func perform(
        _ action: ShareAction, on key: ZoneKey, for bearer: LinkBearer?, in turn: WorkTurn, askedBy asker: Asker
    ) async -> Result<Bool, FailureReason> {
        turn.leave()
        let cause = ChangeCause.current
        let turns = sharedWrites.shareTurns
        return await turns.run(in: key, for: turn.owner, askedBy: asker, by: scheduler) {
            () async -> Result<Bool, FailureReason> in
            // If it is unknown whether an attempt took place, everybody gets a push.
            var isUndecided = false
            return await retry.run(askedBy: asker) { () async throws(StorageError) -> Result<Bool, FailureReason> in
                try await shareChanges.run(for: turn.owner) {
                    () async throws(StorageError) -> Result<Bool, FailureReason> in
                    if asker.hasLeft { return .failure(.storeUnavailable) }
                    return try await attempt(action, on: key, for: bearer, cause, &isUndecided)
                }
            }
        }
    }

    /// - Parameter isUndecided: whether an earlier attempt may have been written.
    private func attempt(
        _ action: ShareAction, on key: ZoneKey, for bearer: LinkBearer?, _ cause: ChangeCause?,
        _ isUndecided: inout Bool
    ) async throws(StorageError) -> Result<Bool, FailureReason> {
        let transaction = try await storage.beginWrite([action.read(of: key)])
        let planned = transaction.snapshots.first.map { snapshot in
            action.plan(
                on: snapshot, store: transaction.store,
                now: Timestamp(milliseconds: scheduler.wallClockMilliseconds), limits: limits, cause: cause)
        }
        let before = transaction.snapshots.first?.zone?.changeNumber ?? 0
        guard case .success(let plan)? = planned, let changes = plan.changes else {
            await transaction.rollback()
            if isUndecided { tell(of: key, growth: nil, action.isRequest ? nil : bearer, of: action) }
            return planned?.map { _ in isUndecided } ?? .failure(.serverFault)
        }
        // An earlier attempt may have written other types.
        let types = isUndecided ? .any : ChangedTypes(of: changes)
        isUndecided = true
        try await transaction.commit([changes])
        // The next write of this process reads the zone again.
        _ = sharedWrites.knownZones.withLock { $0.forget([key]) }
        tell(
            of: key, growth: changes.changeNumber - before, types: types, action.isRequest ? nil : bearer,
            of: action)
        return .success(true)
    }

    /// The zone's feed has the change, and the list of the user's shared database may have another zone. All of the user's devices get the
    /// latter, because the connection that made it may not be the one that fetches.
    ///
    /// - Parameter bearer: nil: an operator has changed something, or somebody has asked for access, whose list stays as it is.
    private func tell(
        of key: ZoneKey, growth: ChangeNumber?, types: ChangedTypes = .any, _ bearer: LinkBearer?,
        of action: ShareAction
    ) {
        var growths: [DatabaseID: Int64] = [:]
        growths[key.database] = growth
        // An operator takes access away from other users, not from the one who asks. A user who leaves may be present
        // in the zone.
        var notices = [
            ZoneNotice(
                database: key.database, life: bearer?.life ?? .nobody, zoneName: key.name,
                changesShares: (bearer == nil || action.isLeaving) && !action.isRequest)
        ]
        if let bearer { notices.append(ZoneNotice(database: bearer.viewer, life: .nobody, zoneName: "")) }
        onMoved(ZonesMoved(notices, growth: growths, types: [key: types]))
    }
}

extension ShareAction {
    /// Whether it neither gives nor takes access.
    fileprivate var isRequest: Bool { if case .requestAccess = self { true } else { false } }
    fileprivate var isLeaving: Bool { if case .leave = self { true } else { false } }
}
