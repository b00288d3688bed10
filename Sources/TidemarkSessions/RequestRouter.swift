// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkService
internal import TidemarkTranslation
internal import TidemarkWire

/// One request on its way to its answer.
struct RequestContext: Sendable {
    let id: UInt64
    let session: Session
    let member: SessionMember
}

/// From a request to the bytes of its answer: the one list of all requests.
struct RequestRouter: Sendable {
    let service: CloudService
    let limits: Limits
    let pushes: PushCenter

    /// Does not throw: what goes wrong is an answer as well.
    func answer(to request: WireClientEnvelope.OneOf_Request, _ context: RequestContext) async -> [UInt8] {
        do {
            switch request {
            case .hello: throw Refusal(.requestInvalid, "Hello comes once.")
            case .modifyRecords(let request): return try await modifyRecords(request, context)
            case .fetchRecords(let request): return try await fetchRecords(request, context)
            case .modifyZones(let request): return try await modifyZones(request, context)
            case .fetchZones(let request): return try await fetchZones(request, context)
            case .fetchDatabaseChanges(let request): return try await fetchDatabaseChanges(request, context)
            case .fetchZoneChanges(let request): return try await fetchZoneChanges(request, context)
            case .modifySubscriptions(let request): return try await modifySubscriptions(request, context)
            case .fetchSubscriptions(let request): return try await fetchSubscriptions(request, context)
            case .queryRecords(let request): return try await queryRecords(request, context)
            case .prepareAssetUpload(let request): return try await prepareAssetUpload(request, context)
            case .uploadAssetChunk(let request): return try await uploadAssetChunk(request, context)
            case .fetchAssetChunk(let request): return try await fetchAssetChunk(request, context)
            }
        } catch let refusal as Refusal {
            return ServerMessage.failure(context.id, refusal)
        } catch {
            return ServerMessage.failure(context.id, .serverFault)
        }
    }

    /// The caller's view of the private database, the only one that is served.
    ///
    /// - Throws: ``Refusal``: `notAuthenticated` where an account is needed, `requestInvalid` for a database
    ///   that there is not, `wrongDatabase` for the public and the shared one.
    func privateDatabase(
        _ scope: WireDatabaseScope, isWrite: Bool, _ member: SessionMember
    ) throws(Refusal) -> Viewpoint {
        let scope = try DatabaseScope(scope)
        if member.identity == nil, scope != .public || isWrite { throw Refusal(.notAuthenticated) }
        guard scope == .private else { throw Refusal(.wrongDatabase) }
        return try member.viewpoint()
    }
}

extension Result where Failure == FailureReason {
    /// The value, or the reason as the refusal of the whole request.
    func orRefusal() throws(Refusal) -> Success {
        switch self {
        case .success(let value): return value
        case .failure(let reason): throw Refusal(reason)
        }
    }
}
