// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import TidemarkCrypto
internal import TidemarkScheduling
internal import TidemarkSockets
internal import TidemarkTLS
internal import TidemarkTelemetry

/// The keys of one issuer, fetched in the background: performs what its ``KeySetMachine`` decides. From any thread.
final class IssuerKeys: Sendable {
    private struct State {
        var machine = KeySetMachine()
        var set: JSONWebKeySet?
        /// The callers that wait for the fetch that is under way.
        var waiters: [Int: CheckedContinuation<Void, Never>] = [:]
        var lastWaiter = 0
        var isStopped = false
    }

    let issuer: Issuer
    private let loop: EventLoop
    private let fetch: KeySetFetch
    private let state = Mutex(State())

    /// How long a sign-in waits for a fetch. It is shorter than the time for `Hello`.
    private static let patience = Duration.seconds(6)
    /// Sign-ins that wait at once (I-7). Others get the answer to try again.
    private static let waitersMax = 1_024
    /// Keys that are tried for a token that names none.
    private static let candidatesMax = 8

    /// - Parameter loop: fetches; not one of devices.
    init(_ issuer: Issuer, tls: TLSContext?, loop: EventLoop) {
        self.issuer = issuer
        self.loop = loop
        fetch = KeySetFetch(issuer: issuer, tls: tls, loop: loop)
    }

    func start() { perform(state.withLock { $0.machine.start(now: loop.now) }) }

    /// Waiters are resumed, and the fetch under way ends. Then the loop may stop.
    func stop() {
        loop.execute { [fetch] in fetch.cancel() }
        let waiters = state.withLock { state in
            state.isStopped = true
            defer { state.waiters = [:] }
            return state.waiters
        }
        for waiter in waiters.values { waiter.resume() }
    }

    /// Whether one of the issuer's keys has signed the token. If the key is not known, the issuer is asked again.
    func check(_ token: JSONWebToken, _ algorithm: SignatureAlgorithm) async throws(TokenRefusal) {
        if try isSigned(token, algorithm) { return }
        let (answer, actions) = state.withLock { $0.machine.missed(now: loop.now) }
        perform(actions)
        guard answer == .wait else {
            // The issuer may have published the key since the last fetch. An issuer with one key may leave its id out of tokens,
            // and then a new key looks like a wrong signature.
            throw answer == .unknown && token.keyID == nil ? .signerUnknown : .keysUnavailable
        }
        await waitForFetch()
        if try isSigned(token, algorithm) { return }
        switch state.withLock({ $0.machine.isFetching ? KeySetMachine.Answer.unavailable : $0.machine.verdict }) {
        case .unavailable: throw .keysUnavailable
        case .wait, .unknown: throw token.keyID == nil ? .signatureWrong : .keyUnknown
        }
    }

    /// - Returns: false if the issuer may have a key that is not known yet.
    private func isSigned(_ token: JSONWebToken, _ algorithm: SignatureAlgorithm) throws(TokenRefusal) -> Bool {
        let keys = state.withLock { $0.set }?.candidates(id: token.keyID, algorithm).prefix(Self.candidatesMax) ?? []
        if keys.contains(where: { $0.verify(token.signature, of: token.signedBytes) }) { return true }
        guard keys.isEmpty || token.keyID == nil else { throw .signatureWrong }
        return false
    }

    private func waitForFetch() async {
        await withCheckedContinuation { continuation in
            let number = state.withLock { state -> Int? in
                guard state.machine.isFetching, !state.isStopped, state.waiters.count < Self.waitersMax else {
                    return nil
                }
                state.lastWaiter += 1
                state.waiters[state.lastWaiter] = continuation
                return state.lastWaiter
            }
            guard let number else { return continuation.resume() }
            _ = loop.schedule(after: Self.patience) { [self] in
                state.withLock { $0.waiters.removeValue(forKey: number) }?.resume()
            }
        }
    }

    private func perform(_ actions: [KeySetMachine.Action]) {
        for action in actions {
            switch action {
            case .fetch: loop.run { [self] in await fetchKeys() }
            case .wake(let number, let delay):
                _ = loop.schedule(after: delay) { [weak self] in
                    guard let self, !state.withLock({ $0.isStopped }) else { return }
                    perform(state.withLock { $0.machine.woke(number, now: loop.now) })
                }
            }
        }
    }

    private func fetchKeys() async {
        let actions: [KeySetMachine.Action]
        do throws(KeySetFetch.Failure) {
            let keys = try await fetch.run()
            TokenMetrics.shared.fetches.increment(.ok)
            actions = state.withLock { state in
                state.set = keys.set
                return state.machine.fetched(freshFor: keys.freshFor, now: loop.now)
            }
        } catch {
            TokenMetrics.shared.fetches.increment(.failed)
            FailureLog.shared.note(
                .warning, "the keys of an identity provider were not fetched", cause: issuer.name,
                [
                    "why": error.text,
                    "advice": "tokens whose keys are known are still accepted; check that the provider answers this "
                        + "machine, and that --issuers names it correctly; the server tries again by itself",
                ], request: nil)
            actions = state.withLock { $0.machine.failed(now: loop.now) }
        }
        let waiters = state.withLock { state in
            defer { state.waiters = [:] }
            return state.waiters
        }
        for waiter in waiters.values { waiter.resume() }
        perform(actions)
    }
}
