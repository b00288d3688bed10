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

    /// A `Hello`, before the store is asked.
    enum Arrival {
        /// - Parameter holder: of a token that counts. Nil: there is no credential, or it is none of a provider's.
        case greeting(Greeting, holder: (any TokenHolder)?)
        case refused(Refusal, SessionClose)
    }

    /// Looks at what needs no store. It may wait for the keys of an identity provider, so it must not hold a place for
    /// which others wait: a provider that is down keeps nobody else out.
    ///
    /// - Parameters:
    ///   - address: from where the client connects; empty if that is not known.
    ///   - network: as ``SessionPeer/network``.
    func look(at hello: WireHello, from address: String, _ network: String) async -> Arrival {
        let greeting: Greeting
        do {
            greeting = try Greeting(hello)
        } catch {
            return .refused(error, error.code == .notAuthenticated ? .notAuthenticated : .misuse)
        }
        guard let credential = greeting.credential else {
            guard settings.requiresCredential else { return .greeting(greeting, holder: nil) }
            return .refused(
                Refusal(.notAuthenticated, "This server serves nobody without a credential."), .notAuthenticated)
        }
        let places = Self.places(of: network)
        if let wait = settings.tries.wait(places, now: scheduler.now) {
            return .refused(.tooManyTries(wait), .tryAgainLater)
        }
        guard let judge = settings.tokens else { return .greeting(greeting, holder: nil) }
        switch await judge.judge(credential, now: now()) {
        case .noToken: return .greeting(greeting, holder: nil)
        case .accepted(let holder): return .greeting(greeting, holder: holder)
        case .refused(let problem, let text):
            settings.tries.failed(places, now: scheduler.now)
            note(refused: Visitor(greeting: greeting, key: settings.credentialHash(credential), address: address))
            return .refused(Refusal(.notAuthenticated, text, problem: problem), .notAuthenticated)
        case .undecided(let text):
            settings.tries.failed(places, now: scheduler.now)
            return Self.comeAgain(text)
        case .unavailable(let text): return Self.comeAgain(text)
        }
    }

    private static func comeAgain(_ text: String) -> Arrival {
        .refused(Refusal(.storeUnavailable, text, retryAfter: providerPatience), .tryAgainLater)
    }

    /// Seconds, when the keys of a provider cannot be had.
    private static let providerPatience = 5.0

    private static func places(of network: String) -> [SignInTries.Place] {
        network.isEmpty ? [] : [.network(network)]
    }

    /// Asks the store for the account and the container of a `Hello` that ``look(at:from:_:)`` has let pass.
    func answer(
        _ greeting: Greeting, _ holder: (any TokenHolder)?, from address: String, _ network: String
    ) async -> Outcome {
        let visitor = greeting.credential.map { credential in
            Visitor(
                greeting: greeting, key: holder?.key ?? settings.credentialHash(credential), address: address,
                holder: holder)
        }
        let own = visitor.map { [SignInTries.Place.credential($0.key)] } ?? []
        if let wait = settings.tries.wait(own, now: scheduler.now) {
            return .refused(.tooManyTries(wait), .tryAgainLater)
        }
        let store: StoreStanding
        switch await service.standing() {
        case .success(let standing): store = standing
        case .failure(let reason): return .refused(Refusal(reason), .tryAgainLater)
        }
        guard let visitor else {
            let nobody = member(greeting, nil, store)
            return .welcome(nobody, answer(to: nobody, store))
        }
        let outcome = await identify(visitor, store: store)
        if case .refused(let refusal, _) = outcome, refusal.code == .notAuthenticated {
            // NB: other devices of the account have the credential of a revoked device, and it is good for them.
            let isOfDevice = refusal.problem == .deviceRevoked
            settings.tries.failed(Self.places(of: network) + (isOfDevice ? [] : own), now: scheduler.now)
        }
        return outcome
    }

    /// Somebody who has shown a credential.
    private struct Visitor {
        let greeting: Greeting
        /// The hash of the credential, or the key of the token's holder.
        let key: [UInt8]
        let address: String
        var holder: (any TokenHolder)?
    }

    private func identify(_ visitor: Visitor, store: StoreStanding) async -> Outcome {
        let (greeting, hash) = (visitor.greeting, visitor.key)
        var answer = await authenticate(visitor, createsContainer: false)
        if case .success(nil) = answer, let holder = visitor.holder {
            switch await holder.makeAccount() {
            case true?: answer = await authenticate(visitor, createsContainer: false)
            case false?: break
            case nil: return .refused(Refusal(.storeUnavailable), .tryAgainLater)
            }
        }
        if case .success(nil) = answer { note(refused: visitor) }
        guard case .failure(.containerUnknown) = answer else { return await outcome(of: answer, visitor, store) }
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
        return await outcome(of: made, visitor, store, warning: unknown.warning)
    }

    private func authenticate(
        _ visitor: Visitor, createsContainer: Bool
    ) async -> Result<Identity?, FailureReason> {
        let greeting = visitor.greeting
        return await service.authenticate(
            credentialHash: visitor.key, container: greeting.container, environment: greeting.environment,
            createsContainer: createsContainer, device: greeting.device, deviceName: greeting.shownName,
            from: visitor.address)
    }

    /// Nobody waits for it, so that a refusal takes no longer than before.
    private func note(refused visitor: Visitor) {
        guard settings.refusals.take(visitor.address, now: scheduler.now) else { return }
        scheduler.run { [service] in
            await service.noteRefusedSignIn(
                credentialHash: visitor.key, device: visitor.greeting.device, from: visitor.address)
        }
    }

    private func outcome(
        of answer: Result<Identity?, FailureReason>, _ visitor: Visitor, _ store: StoreStanding, warning: String? = nil
    ) async -> Outcome {
        let greeting = visitor.greeting
        switch answer {
        case .success(let identity?):
            if let holder = visitor.holder, await !holder.settle(as: identity, in: greeting.key) {
                return .refused(Refusal(.storeUnavailable), .tryAgainLater)
            }
            let known = visitor.holder.map { identity.until($0.end) } ?? identity
            let member = member(greeting, known, store)
            return .welcome(member, self.answer(to: member, store, warning: warning))
        case .success(nil):
            var problem = await service.signInProblem(credentialHash: visitor.key, device: greeting.device)
            if problem == .credentialUnknown, visitor.holder != nil { problem = .identityUnknown }
            return .refused(Refusal(.notAuthenticated, problem.text, problem: problem), .notAuthenticated)
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
            keepsAssets: settings.keepsAssets, of: member.identity?.limits,
            connectionsMax: (member.identity?.limits ?? AccountLimits()).connectionsMax(
                standard: settings.sessionsPerAccountMax), quota: member.identity?.quota,
            serverName: settings.serverName, warnings: warning.map { [$0] } ?? [])
    }
}

extension Refusal {
    ///
    fileprivate static func tooManyTries(_ wait: Duration) -> Refusal {
        Refusal(
            .tooManyRequests, "Too many sign-ins have failed from here, or with this credential. Try again later.",
            retryAfter: max(1, wait / .seconds(1)))
    }
}
