// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkService
internal import TidemarkTranslation
internal import TidemarkWire

extension RequestRouter {
    /// Saves and deletes records: each zone's part has its own outcome (R-150 … R-157).
    func modifyRecords(_ request: WireModifyRecords, _ context: RequestContext) async throws(Refusal) -> [UInt8] {
        let caller = try await recordDatabase(request.database, isWrite: true, context.member)
        let (viewpoint, parts) = try await read(request, by: caller, context)
        let requests = parts.compactMap(\.request)
        // while other zones are not decided, what is shown of the first ones takes memory.
        let room = RecordsRoom(of: context.member.owner, in: requestBudget, bytesMax: limits.answerBytesMax)
        defer { room.leave() }
        let decided = await service.modifyRecords(
            requests, for: context.member.owner, askedBy: context.session.asker,
            at: SharingGates(reads: gates[.fetch], changes: gates[.change]), room: room,
            completing: completion(of: request, for: viewpoint, context.member))
        // to a client that does not read, a conflict or a save is told without the record. It fetches that
        // when it reads again.
        let bytesMax = context.session.bytesBesideAnswer
        let shown = try await showing(requests, decided, for: viewpoint, bytesMax: bytesMax)
        let others = shown.outcomes.users(besides: viewpoint.user)
        let namingViewpoint = try await naming(others, for: shown.viewpoint)
        return answer(to: parts, with: shown.outcomes, for: namingViewpoint, bytesMax: bytesMax, context)
    }

    /// NB: of its own, because a function that awaits has room for all that it needs, also while it waits.
    @inline(never)
    private func answer(
        to parts: [RecordsPart], with outcomes: [Result<RecordsOutcome, FailureReason>], for viewpoint: Viewpoint,
        bytesMax: Int, _ context: RequestContext
    ) -> [UInt8] {
        var outcomes = outcomes[...]
        var answer = RecordsAnswer(
            viewpoint: viewpoint, limits: limits, bytesMax: min(bytesMax, context.session.bytesBesideAnswer))
        var sent = SentRecords()
        for part in parts {
            switch part {
            case .refused(let reason, let saveCount, let deleteCount):
                sent.refused(reason, count: saveCount + deleteCount)
                answer.append(reason, saveCount: saveCount, deleteCount: deleteCount)
            case .request(let request):
                switch outcomes.popFirst() ?? .failure(.serverFault) {
                case .success(let outcome):
                    sent.took(outcome, in: request.key, by: context.session)
                    answer.append(outcome)
                case .failure(let reason):
                    sent.refused(reason, count: request.saves.count + request.deletes.count)
                    answer.append(reason, saveCount: request.saves.count, deleteCount: request.deletes.count)
                }
            }
        }
        sent.note(in: context.session)
        context.note(answer.failure)
        return answer.message(context.id)
    }

    /// The parts of a request, and the view that knows the owners whom it names. A long one is read in turns.
    ///
    /// Meanwhile later ones of the connection wait, so that they are queued in the order in which they came. A request has
    /// one place in that order. If it took another one to be read, it would wait for those that came later.
    @inline(never)
    private func read(
        _ request: WireModifyRecords, by viewpoint: Viewpoint, _ context: RequestContext
    ) async throws(Refusal) -> (viewpoint: Viewpoint, parts: [RecordsPart]) {
        let isShared = viewpoint.access.scope == .shared
        let order = isShared ? context.session.ownersOrder : context.session.ownOrder
        let isLong = context.message.valueBytes > RecordsPartsReader.bytesPerTurn
        // Nearly all requests.
        if !isShared, !isLong, !order.isBusy {
            return (viewpoint, try RecordsPart.parts(of: request, by: viewpoint, limits: limits))
        }
        let mayPass = !isLong && knowsOwners(of: request.zones.lazy.map(\.zone), for: viewpoint, context.member)
        let read = await order.run(mayPass: mayPass) {
            () async -> Result<Result<ReadRecords, Refusal>, FailureReason> in
            do throws(Refusal) {
                let known = try await knowingOwners(
                    of: request.zones.lazy.map(\.zone), for: viewpoint, context.member,
                    at: ownersLook(context, after: nil))
                let parts = try await partsInTurns(of: request, by: known)
                return .success(.success(ReadRecords(viewpoint: known, parts: parts)))
            } catch {
                // Those behind it ask for no turn either.
                return error.code == .tooManyRequests ? .failure(error.code) : .success(.failure(error))
            }
        }
        let records = try read.orRefusal().get()
        return (records.viewpoint, records.parts)
    }

    /// Between two turns the event loop does everything else.
    func partsInTurns(
        of request: WireModifyRecords, by viewpoint: Viewpoint
    ) async throws(Refusal) -> [RecordsPart] {
        var reader = try RecordsPartsReader(request, by: viewpoint, limits: limits)
        while try reader.read(bytesMax: RecordsPartsReader.bytesPerTurn) { await Task.yield() }
        return try reader.finished()
    }
}

/// A request that was read.
private struct ReadRecords: Sendable {
    let viewpoint: Viewpoint
    let parts: [RecordsPart]
}

extension [Result<RecordsOutcome, FailureReason>] {
    /// Who made or last changed what they show.
    @inline(never)
    fileprivate func users(besides user: UserID?) -> Set<UserID> {
        var users: Set<UserID> = []
        for case .success(let outcome) in self { users.formUnion(outcome.users(besides: user)) }
        return users
    }
}
