// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkService
internal import TidemarkTranslation
internal import TidemarkWire

extension RequestRouter {
    /// One page of a query's results (R-173 … R-190).
    func queryRecords(_ request: WireQueryRecords, _ context: RequestContext) async throws(Refusal) -> [UInt8] {
        let viewpoint = try privateDatabase(request.database, isWrite: false, context.member)
        let search = try RecordsSearch(request, by: viewpoint, limits: limits)
        let result = await service.queryRecords(
            search.query, in: viewpoint.database, scope: try DatabaseScope(request.database), cursor: search.cursor,
            recordsMax: search.limit)
        switch result {
        case .success(let page):
            return ServerMessage.answer(
                context.id, .queryRecords(WireQueryRecordsAnswer(page, to: search, seenFrom: viewpoint)))
        case .failure(let refusal): throw Refusal(refusal)
        }
    }
}
