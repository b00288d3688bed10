// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkScheduling
internal import TidemarkService
internal import TidemarkTelemetry
internal import TidemarkTranslation
internal import TidemarkWire

/// One request on its way to its answer.
struct RequestContext: Sendable {
    let message: ClientMessage
    let session: Session
    let member: SessionMember

    var id: UInt64 { message.id }

    /// The request, or an item of it, was refused; nil if nothing was. For the metrics.
    func note(_ failure: FailureReason?) {
        if let failure { message.failure = failure }
    }
}

/// The answer to a request.
struct RequestAnswer: Sendable {
    var bytes: [UInt8]
    /// Why it was refused as a whole; nil: it was not.
    var refusal: Refusal?
}

/// From a request to the bytes of its answer: the one list of all requests.
struct RequestRouter: Sendable {
    let service: CloudService
    let limits: Limits
    let pushes: PushCenter
    /// Where works wait for their owners' turns.
    let gates: RequestGates
    let requestBudget: RequestBudget
    /// As ``SessionSettings/tellsAccounts``.
    let tellsAccounts: Bool

    /// Does not throw: what goes wrong is an answer as well.
    func answer(_ context: RequestContext) async -> RequestAnswer {
        let refusal: Refusal
        do {
            return RequestAnswer(bytes: try await answerOrRefuse(context))
        } catch let thrown as Refusal {
            refusal = thrown
        } catch {
            refusal = Refusal(.serverFault)
            FailureLog.shared.note(
                .error, "a handler failed", cause: "\(type(of: error))", ["error": "\(error)"])
        }
        return refuse(context, refusal)
    }

    /// The answer to a request that is refused as a whole.
    func refuse(_ context: RequestContext, _ refusal: Refusal) -> RequestAnswer {
        context.note(refusal.code)
        return RequestAnswer(bytes: ServerMessage.failure(context.id, refusal.within(limits)), refusal: refusal)
    }

    private func answerOrRefuse(_ context: RequestContext) async throws -> [UInt8] {
        try await handler(of: context.message.request)(context)
    }

    private typealias Handler = @Sendable (RequestContext) async throws -> [UInt8]

    /// Who answers a request.
    ///
    /// NB: a function that awaits has room for everything that it may need. If one awaited all of these in turn, each request
    /// would take the room of all messages while it is under way.
    @inline(never)
    private func handler(of request: WireClientEnvelope.OneOfRequest?) throws(Refusal) -> Handler {
        switch request {
        case nil: throw Refusal(.requestInvalid)
        case .hello: throw Refusal(.requestInvalid, "Hello comes once.")
        case .modifyRecords(let request): { try await modifyRecords(request, $0) }
        case .fetchRecords(let request): { try await fetchRecords(request, $0) }
        case .modifyZones(let request): { try await modifyZones(request, $0) }
        case .fetchZones(let request): { try await fetchZones(request, $0) }
        case .fetchDatabaseChanges(let request): { try await fetchDatabaseChanges(request, $0) }
        case .fetchZoneChanges(let request): { try await fetchZoneChanges(request, $0) }
        case .verifyZone(let request): { try await verifyZone(request, $0) }
        case .modifySubscriptions(let request): { try await modifySubscriptions(request, $0) }
        case .fetchSubscriptions(let request): { try await fetchSubscriptions(request, $0) }
        case .queryRecords(let request): { try await queryRecords(request, $0) }
        case .prepareAssetUpload(let request): { try await prepareAssetUpload(request, $0) }
        case .uploadAssetChunk(let request): { try await uploadAssetChunk(request, $0) }
        case .fetchAssetChunk(let request): { try await fetchAssetChunk(request, $0) }
        case .fetchKeys(let request): { try await fetchKeys(request, $0) }
        case .saveAccountKey(let request): { try await saveAccountKey(request, $0) }
        case .saveZoneKey(let request): { try await saveZoneKey(request, $0) }
        case .grantKeys(let request): { try await grantKeys(request, $0) }
        case .fetchShareMetadata(let request): { try await fetchShareMetadata(request, $0) }
        case .acceptShares(let request): { try await acceptShares(request, $0) }
        case .fetchShareParticipants(let request): { try await fetchShareParticipants(request, $0) }
        case .requestShareAccess(let request): { try await requestShareAccess(request, $0) }
        case .joinPresence(let request): { try await joinPresence(request, $0) }
        case .publishPresence(let request): { try await publishPresence(request, $0) }
        case .leavePresence(let request): { try await leavePresence(request, $0) }
        }
    }

    /// The caller's view of a database that shows records: each does.
    ///
    /// - Throws: ``Refusal``: `notAuthenticated` where an account is needed, `requestInvalid` for a database
    ///   that there is not, `containerUnknown`.
    func recordDatabase(
        _ scope: WireDatabaseScope, isWrite: Bool, _ member: SessionMember
    ) async throws(Refusal) -> Viewpoint {
        guard try DatabaseScope(scope) == .public else {
            return try ownDatabase(scope, isWrite: isWrite, member)
        }
        if member.identity == nil, isWrite { throw Refusal(.notAuthenticated) }
        let database = try await service.publicDatabase(of: member.container).orRefusal()
        let user = member.identity?.user
        // A write reads its grants in the transaction that decides.
        let access =
            isWrite
            ? RecordAccess(scope: .public, user: user)
            : try await service.readAccess(to: database, by: user).orRefusal()
        return member.viewpoint(of: database, access: access)
    }

    /// The same view, which also knows how others are named who made and last changed the records of an answer.
    ///
    /// - Parameter others: all of them but the caller. In a private database there are usually none.
    func naming(_ others: Set<UserID>, for viewpoint: Viewpoint) async throws(Refusal) -> Viewpoint {
        guard !others.isEmpty else { return viewpoint }
        var viewpoint = viewpoint
        viewpoint.userNames.merge(try await service.userRecordNames(of: others).orRefusal()) { $1 }
        return viewpoint
    }

    /// The caller's view of one of the two databases that a user has for their own, the private and the shared one: custom
    /// zones, feeds and subscriptions are there.
    ///
    /// - Throws: ``Refusal``: `notAuthenticated` where an account is needed, `requestInvalid` for a database
    ///   that there is not, `wrongDatabase` for the public one.
    func ownDatabase(
        _ scope: WireDatabaseScope, isWrite: Bool, _ member: SessionMember
    ) throws(Refusal) -> Viewpoint {
        let scope = try DatabaseScope(scope)
        if member.identity == nil, scope != .public || isWrite { throw Refusal(.notAuthenticated) }
        switch scope {
        case .public: throw Refusal(.wrongDatabase)
        case .private: return try member.viewpoint()
        case .shared: return try member.sharedViewpoint()
        }
    }
}

extension Result {
    /// Why it failed; nil if it did not.
    var failure: Failure? { if case .failure(let failure) = self { failure } else { nil } }
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
