// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkService
internal import TidemarkTranslation
internal import TidemarkWire

extension RequestRouter {
    /// Records by name, in the order of the request, up to the bound of an answer.
    func fetchRecords(_ request: WireFetchRecords, _ context: RequestContext) async throws(Refusal) -> [UInt8] {
        var viewpoint = try await recordDatabase(request.database, isWrite: false, context.member)
        viewpoint = try await knowingOwners(of: request.zones.lazy.map(\.zone), for: viewpoint, context.member)
        let query = try RecordsQuery(request, by: viewpoint, limits: limits)
        var answer = RecordsFetchAnswer(viewpoint: viewpoint, selection: query.selection, limits: limits)
        defer { context.note(answer.failure) }
        var turns = SelectionTurns()
        for part in query.zones where !part.names.isEmpty {
            guard let key = part.key else {
                answer.append(.zoneNotFound, count: part.names.count)
                continue
            }
            if let userName = viewpoint.userRecordName(in: key), part.names.contains(userName) {
                await service.makeUserRecord(
                    named: userName, in: key.database, by: viewpoint.access, for: context.member.owner)
            }
            switch await service.records(named: part.names, in: key, by: viewpoint.access) {
            case .success(let lookup):
                answer.viewpoint = try await naming(
                    lookup.users(besides: viewpoint.user), for: showing(lookup, for: viewpoint))
                for result in lookup.records {
                    answer.append(result, in: lookup.zone.id)
                    if query.selection != nil, case .success(let record) = result { await turns.took(record) }
                }
                // The service cut its answer. The client must ask for the rest again.
                if lookup.records.count < part.names.count { return answer.message(context.id) }
            case .failure(let reason):
                answer.append(reason, count: part.names.count)
            }
            if answer.isFull { break }
        }
        return answer.message(context.id)
    }
}
