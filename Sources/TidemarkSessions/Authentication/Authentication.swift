// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkService
internal import TidemarkTelemetry
internal import TidemarkTranslation
internal import TidemarkWire

/// Finds the account and the container of a `Hello`.
struct Authentication: Sendable {
    enum Outcome {
        case welcome(SessionMember, WireHelloAnswer)
        case refused(Refusal, SessionClose)
    }

    let service: CloudService
    let settings: SessionSettings
    let now: @Sendable () -> Timestamp
    private static let log = Log("containers")

    func answer(_ hello: WireHello) async -> Outcome {
        let greeting: Greeting
        do {
            greeting = try Greeting(hello)
        } catch {
            return .refused(error, error.code == .notAuthenticated ? .notAuthenticated : .misuse)
        }
        guard greeting.credential != nil || !settings.requiresCredential else {
            return .refused(
                Refusal(.notAuthenticated, "This server serves nobody without a credential."), .notAuthenticated)
        }
        let store: StoreStanding
        switch await service.standing() {
        case .success(let standing): store = standing
        case .failure(let reason): return .refused(Refusal(reason), .tryAgainLater)
        }
        guard let credential = greeting.credential else {
            let nobody = member(greeting, nil, store)
            return .welcome(nobody, answer(to: nobody, store))
        }
        return await identify(greeting, hash: settings.credentialHash(credential), store: store)
    }

    private func identify(_ greeting: Greeting, hash: [UInt8], store: StoreStanding) async -> Outcome {
        let answer = await authenticate(greeting, hash, createsContainer: false)
        guard case .failure(.containerUnknown) = answer else { return outcome(of: answer, greeting, store) }
        // Rare: an account's first connection, or a mistyped name. Only then are the account's containers read.
        let known: [String]
        switch await service.containers(credentialHash: hash, environment: greeting.environment) {
        case .success(let names): known = names
        case .failure(let reason): return .refused(Refusal(reason), .tryAgainLater)
        }
        let unknown = UnknownContainer(
            name: greeting.container, environment: greeting.environment, known: known)
        guard settings.createsContainers, greeting.environment == .development else {
            return .refused(Refusal(.containerUnknown, unknown.refusal), .misuse)
        }
        let made = await authenticate(greeting, hash, createsContainer: true)
        if case .failure(.containerUnknown) = made {
            let text = unknown.refusal(beyond: settings.limits.containersMax)
            return .refused(Refusal(.containerUnknown, text), .misuse)
        }
        if case .success(let identity?) = made { note(unknown, greeting, identity) }
        return outcome(of: made, greeting, store, warning: unknown.warning)
    }

    private func authenticate(
        _ greeting: Greeting, _ hash: [UInt8], createsContainer: Bool
    ) async -> Result<Identity?, FailureReason> {
        await service.authenticate(
            credentialHash: hash, container: greeting.container, environment: greeting.environment,
            createsContainer: createsContainer, device: greeting.device, deviceName: greeting.shownName)
    }

    private func outcome(
        of answer: Result<Identity?, FailureReason>, _ greeting: Greeting, _ store: StoreStanding,
        warning: String? = nil
    ) -> Outcome {
        switch answer {
        case .success(let identity?):
            let member = member(greeting, identity, store)
            return .welcome(member, self.answer(to: member, store, warning: warning))
        case .success(nil):
            return .refused(
                Refusal(.notAuthenticated, "The credential is unknown, expired or revoked."), .notAuthenticated)
        case .failure(.containerUnknown): return .refused(Refusal(.containerUnknown), .misuse)
        case .failure(let reason): return .refused(Refusal(reason), .tryAgainLater)
        }
    }

    /// Logs that a container was created. A mistyped name makes a container like any other, only empty, and an operator
    /// or developer sees it here.
    private func note(_ container: UnknownContainer, _ greeting: Greeting, _ identity: Identity) {
        guard !container.known.isEmpty else { return ConnectionReports.createdFirst(container, greeting) }
        Self.log.warning(
            "container created, because it was named by an account that has others",
            [
                "container": container.name, "environment": "\(greeting.environment)",
                "nearest": container.nearest ?? "none", "account": "\(identity.account.rawValue)",
                "advice": "if the name is mistyped, correct it in the app",
            ])
    }

    private func member(_ greeting: Greeting, _ identity: Identity?, _ store: StoreStanding) -> SessionMember {
        SessionMember(
            device: greeting.device, life: greeting.life, identity: identity, container: greeting.key,
            store: store.incarnation)
    }

    private func answer(
        to member: SessionMember, _ store: StoreStanding, warning: String? = nil
    ) -> WireHelloAnswer {
        WireHelloAnswer(
            userRecordName: member.identity?.userRecordName ?? "", now: now(), memoryEpoch: store.memoryEpoch,
            store: store.incarnation, limits: settings.limits,
            messageBytesMax: settings.messageBytesMax(isAnonymous: member.identity == nil),
            keepsAssets: settings.keepsAssets, serverName: settings.serverName, warnings: warning.map { [$0] } ?? [])
    }
}
