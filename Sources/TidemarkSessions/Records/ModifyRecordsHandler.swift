// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkService
internal import TidemarkTranslation
internal import TidemarkWire

extension RequestRouter {
    /// Saves and deletes records: each zone's part has its own outcome (R-150 … R-157).
    func modifyRecords(_ request: WireModifyRecords, _ context: RequestContext) async throws(Refusal) -> [UInt8] {
        var viewpoint = try await recordDatabase(request.database, isWrite: true, context.member)
        viewpoint = try await knowingOwners(
            of: request.zones.lazy.map(\.zone), for: viewpoint, context.member, at: ownersLook(context))
        let parts = try await parts(of: request, by: viewpoint, context)
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
        var outcomes = shown.outcomes[...]
        var others: Set<UserID> = []
        for case .success(let outcome) in outcomes { others.formUnion(outcome.users(besides: viewpoint.user)) }
        let namingViewpoint = try await naming(others, for: shown.viewpoint)
        var answer = RecordsAnswer(
            viewpoint: namingViewpoint, limits: limits, bytesMax: min(bytesMax, context.session.bytesBesideAnswer))
        for part in parts {
            switch part {
            case .refused(let reason, let saveCount, let deleteCount):
                answer.append(reason, saveCount: saveCount, deleteCount: deleteCount)
            case .request(let request):
                switch outcomes.popFirst() ?? .failure(.serverFault) {
                case .success(let outcome): answer.append(outcome)
                case .failure(let reason):
                    answer.append(reason, saveCount: request.saves.count, deleteCount: request.deletes.count)
                }
            }
        }
        return answer.message(context.id)
    }

    /// The parts of a request. A long one is read in turns. Meanwhile later ones of the connection wait, so that they
    /// are queued in the order in which they came.
    private func parts(
        of request: WireModifyRecords, by viewpoint: Viewpoint, _ context: RequestContext
    ) async throws(Refusal) -> [RecordsPart] {
        let order = context.session.ownersOrder
        let isLong = context.message.memory > RecordsPartsReader.bytesPerTurn
        guard isLong || order.isBusy else {
            return try RecordsPart.parts(of: request, by: viewpoint, limits: limits)
        }
        let read = await order.run(mayPass: !isLong) {
            () async -> Result<Result<[RecordsPart], Refusal>, FailureReason> in
            .success(await partsInTurns(of: request, by: viewpoint))
        }
        return try read.orRefusal().get()
    }

    private func partsInTurns(
        of request: WireModifyRecords, by viewpoint: Viewpoint
    ) async -> Result<[RecordsPart], Refusal> {
        do throws(Refusal) {
            var reader = try RecordsPartsReader(request, by: viewpoint, limits: limits)
            while try reader.read(bytesMax: RecordsPartsReader.bytesPerTurn) { await Task.yield() }
            return .success(try reader.finished())
        } catch {
            return .failure(error)
        }
    }
}
