// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkScheduling
internal import TidemarkService
internal import TidemarkTelemetry
internal import TidemarkTranslation
internal import TidemarkWire

/// Finds the account and the container of a `Hello`.
final class Authentication: Sendable {
    enum Outcome {
        case welcome(SessionMember, WireHelloAnswer)
        case refused(Refusal, SessionClose)
    }

    let service: CloudService
    let settings: SessionSettings
    let now: @Sendable () -> Timestamp
    let scheduler: any Scheduler
    private static let log = Log("containers")

    init(service: CloudService, settings: SessionSettings, scheduler: any Scheduler) {
        self.service = service
        self.settings = settings
        self.scheduler = scheduler
        now = { Timestamp(milliseconds: scheduler.wallClockMilliseconds) }
    }

    /// - Parameter address: from where the client connects; empty if that is not known.
    func answer(_ hello: WireHello, from address: String) async -> Outcome {
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
        let visitor = Visitor(greeting: greeting, hash: settings.credentialHash(credential), address: address)
        return await identify(visitor, store: store)
    }

    /// Somebody who has shown a credential.
    private struct Visitor {
        let greeting: Greeting
        let hash: [UInt8]
        let address: String
    }

    private func identify(_ visitor: Visitor, store: StoreStanding) async -> Outcome {
        let (greeting, hash) = (visitor.greeting, visitor.hash)
        let answer = await authenticate(visitor, createsContainer: false)
        if case .success(nil) = answer { note(refused: visitor) }
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
        let made = await authenticate(visitor, createsContainer: true)
        if case .failure(.containerUnknown) = made {
            let text = unknown.refusal(beyond: settings.limits.containersMax)
            return .refused(Refusal(.containerUnknown, text), .misuse)
        }
        if case .success(let identity?) = made { note(unknown, greeting, identity) }
        return outcome(of: made, greeting, store, warning: unknown.warning)
    }

    private func authenticate(
        _ visitor: Visitor, createsContainer: Bool
    ) async -> Result<Identity?, FailureReason> {
        let greeting = visitor.greeting
        return await service.authenticate(
            credentialHash: visitor.hash, container: greeting.container, environment: greeting.environment,
            createsContainer: createsContainer, device: greeting.device, deviceName: greeting.shownName,
            from: visitor.address)
    }

    /// Nobody waits for it, so that a refusal takes no longer than before.
    private func note(refused visitor: Visitor) {
        guard settings.refusals.take(visitor.address, now: scheduler.now) else { return }
        scheduler.run { [service] in
            await service.noteRefusedSignIn(
                credentialHash: visitor.hash, device: visitor.greeting.device, from: visitor.address)
        }
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
        case .failure(.containerClosed): return .refused(Refusal(.containerClosed), .containerClosed)
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
            store: store.incarnation, since: scheduler.now)
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
