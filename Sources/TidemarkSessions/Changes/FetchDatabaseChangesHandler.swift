// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkService
internal import TidemarkTranslation
internal import TidemarkWire

extension RequestRouter {
    /// One page of the database's feed (R-203 … R-207).
    func fetchDatabaseChanges(
        _ request: WireFetchDatabaseChanges, _ context: RequestContext
    ) async throws(Refusal) -> [UInt8] {
        let viewpoint = try await feedDatabase(request.database, context.member, without: .wrongDatabase)
        let query = DatabaseChangesQuery(request)
        let page = try await service.databaseChanges(
            of: viewpoint.database, token: query.token, zonesMax: query.limit, tellsEnds: query.tellsEnds
        ).orRefusal()
        return ServerMessage.answer(context.id, .fetchDatabaseChanges(WireFetchDatabaseChangesAnswer(page)))
    }
}
