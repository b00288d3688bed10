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
        let query = DatabaseChangesQuery(request, by: viewpoint)
        let question = query.then.flatMap { then in
            then.zoneName.map { zoneName in
                ZoneQuestion(
                    key: ZoneKey(database: viewpoint.database, name: zoneName), token: then.token,
                    recordsMax: then.limit, device: viewpoint.device, tellsEnds: then.tellsEnds)
            }
        }
        let answer = try await service.databaseChanges(
            of: viewpoint.database, token: query.token, zonesMax: query.limit, tellsEnds: query.tellsEnds,
            then: question
        ).orRefusal()
        if viewpoint.access.scope == .private {
            context.session.read { place in
                place.answered(answer.page, follows: query.follows)
                if let question, let page = answer.zonePage { place.answered(page, in: question.key.name) }
            }
        }
        guard let zonePage = answer.zonePage else {
            return ServerMessage.answer(context.id, .fetchDatabaseChanges(WireFetchDatabaseChangesAnswer(answer.page)))
        }
        return ZonePageEncoder.message(
            context.id, answer.page, then: zonePage, selection: query.then?.selection, seenFrom: viewpoint)
    }
}
