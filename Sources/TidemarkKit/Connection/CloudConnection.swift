// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import TidemarkScheduling
internal import TidemarkTelemetry
package import TidemarkWire

/// One device's connection to one container: sends requests, receives answers and pushes, for as long as anybody needs
/// it.
///
/// It is the driver of a `ConnectionMachine`. Every access is under one lock. Whatever may call back (an answer, an
/// observer) runs after the lock is released. Safe to use from any thread.
package final class CloudConnection: CloudChannelObserver, Sendable {
    private struct State {
        var machine: ConnectionMachine
        var channel: (any CloudChannel)?
        var waiters: [UInt64: Waiter] = [:]
        /// In the order of arrival.
        var observers: [Observer] = []
        /// Notifications are delivered one after the other, outside the lock.
        var notifications: [Told] = []
        var isNotifying = false
        /// Whether an attempt waits for its turn (``AttemptPacing``).
        var isOpeningPlanned = false
        /// Where each attempt gets its credential. Nil: it stays the same.
        var tokens: TokenSource?
        /// The number of the attempt that waits for a credential. Nil: none does.
        var asking: Int?
        var lastAsked = 0
        /// When bytes of a long message last moved, in either direction.
        var lastProgress: Duration?

        mutating func tell(_ notification: ConnectionMachine.Notification) {
            notifications.append(Told(notification: notification, generation: machine.generation))
        }
    }

    private struct Waiter {
        let answer: PendingAnswer
        let patience: RequestPatience
        var deadline: ScheduledTimer?
    }

    private struct Observer {
        weak var object: (any CloudConnectionObserver)?
    }

    /// A notification, and ``credentialGeneration`` when it came.
    private struct Told {
        let notification: ConnectionMachine.Notification
        let generation: Int
    }

    private let transport: any CloudTransport
    private let scheduler: any Scheduler
    private let pacing: AttemptPacing
    private let state: Mutex<State>
    /// Carries chunks of assets.
    let lane: TransferLane
    /// The directory for downloaded assets.
    let staging: AssetStaging
    /// Called whenever the server accepts or refuses the credential.
    private let onStanding: @Sendable (_ isRefused: Bool) -> Void
    /// Called with warnings from the server for the developer.
    private let onWarning: @Sendable (String) -> Void

    /// - Parameters:
    ///   - tokens: gives the credential of each attempt. Nil: all have that of `hello`.
    ///   - pacing: shared with the other connections of a context.
    init(
        hello: WireHello, tokens: TokenSource? = nil, transport: any CloudTransport, scheduler: any Scheduler,
        staging: AssetStaging = .standard,
        pacing: AttemptPacing, onStanding: @escaping @Sendable (_ isRefused: Bool) -> Void = { _ in },
        onWarning: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        self.staging = staging
        self.onStanding = onStanding
        self.onWarning = onWarning
        lane = TransferLane { scheduler.now }
        self.transport = transport
        self.scheduler = scheduler
        self.pacing = pacing
        var machine = ConnectionMachine(
            hello: hello, serverName: transport.serverName, renewsCredential: tokens != nil)
        machine.begin(life: scheduler.randomBytes16())
        state = Mutex(State(machine: machine, tokens: tokens))
    }

    deinit {
        state.withLock { $0.channel }?.close()
    }

    private var moment: ConnectionMachine.Moment {
        ConnectionMachine.Moment(monotonic: scheduler.now, withSleep: scheduler.nowWithSleep)
    }

    // MARK: For requests

    /// The time on the clock that measures waits.
    var now: Duration { scheduler.now }

    /// 64 random bits.
    var randomBits: UInt64 { scheduler.randomBits() }

    /// Suspends for a time.
    ///
    /// - Throws: `operationCancelled` at once when the task is or gets cancelled.
    func wait(_ delay: Duration) async throws(CKError) {
        let work = CallbackWork.current
        work?.waitBegins()
        do {
            try await scheduler.sleep(for: delay) { work?.waitEnds() }
        } catch {
            throw CKError(.operationCancelled)
        }
    }

    /// Sends a request and waits for its answer, over as many connections as it takes.
    ///
    /// - Parameters:
    ///   - isChange: whether it carries a stamp and must not be applied twice.
    ///   - nonce: of a change for which the caller may ask again: from ``changeNonce()``. With the same nonce it is the same
    ///     request, until ``giveUp(nonce:)``.
    ///   - timeout: after this time without any progress the request fails.
    ///   - within: the time for all that the request is a part of; nil: no end.
    ///   - generation: the credential for which it is meant (``credentialGeneration``). It is not sent with another
    ///     one.
    ///   - make: called once, when the request is first sent.
    /// - Throws: `CKError`: the server's refusal, or the reason why there is no answer. If the task is cancelled, the
    ///   request ends with `operationCancelled`. A change may then still be carried out, unless the task was cancelled
    ///   before.
    package func request(
        isChange: Bool, nonce: UInt64? = nil, timeout: Duration = .seconds(60), within: Duration? = nil,
        generation: Int? = nil,
        _ make: @escaping @Sendable (WireRequestStamp?) -> WireClientEnvelope
    ) async throws(CKError) -> ServerReply {
        // a request that was sent can be carried out, however soon it is cancelled.
        guard !Task.isCancelled else { throw CKError(.operationCancelled) }
        let ownNonce = nonce ?? (isChange ? changeNonce() : 0)
        return try await wait(timeout: timeout, within: within) {
            $0.request(
                isChange: isChange, nonce: ownNonce, mayRepeat: nonce != nil, generation: generation, now: $1,
                make: make)
        }.orRefusal()
    }

    /// 56 random bits, which servers read without the generated code.
    func changeNonce() -> UInt64 { scheduler.randomBits() >> 8 }

    /// The caller does not ask again for the change with this nonce.
    func giveUp(nonce: UInt64) {
        state.withLock { $0.machine.giveUp(nonce: nonce) }
    }

    /// The user who is signed in according to the server: the user record's name, empty without an account. Connects if
    /// necessary.
    ///
    /// - Parameter generation: as for a request.
    package func identify(
        timeout: Duration = .seconds(60), within: Duration? = nil, generation: Int? = nil
    ) async throws(CKError) -> String {
        try await wait(timeout: timeout, within: within) { $0.identify(generation: generation, now: $1) }.envelope
            .hello.userRecordName
    }

    private typealias Start = (
        inout ConnectionMachine, ConnectionMachine.Moment
    ) -> (id: UInt64, actions: [ConnectionMachine.Action])

    private func wait(
        timeout: Duration, within: Duration? = nil, _ start: Start
    ) async throws(CKError) -> ServerReply {
        try await outcome(of: begin(timeout: timeout, within: within, start))
    }

    private func begin(timeout: Duration, within: Duration? = nil, _ start: Start) -> PendingAnswer {
        let answer = PendingAnswer()
        update { state, now in
            let (id, actions) = start(&state.machine, now)
            answer.id = id
            let patience = RequestPatience(start: now.monotonic, timeout: timeout, within: within)
            state.waiters[id] = Waiter(
                answer: answer, patience: patience, deadline: deadline(of: id, after: patience.timeout))
            return actions
        }
        return answer
    }

    private func outcome(of answer: PendingAnswer) async throws(CKError) -> ServerReply {
        let outcome = await withTaskCancellationHandler {
            await answer.outcome()
        } onCancel: {
            cancel(answer.id)
        }
        switch outcome {
        case .success(let reply): return reply
        case .failure(let failure): throw CKError(failure)
        }
    }

    // MARK: For transfers

    /// Queues a request that changes no records before this returns, so that several keep their order.
    func begin(
        timeout: Duration, within: Duration? = nil, generation: Int?,
        _ make: @escaping @Sendable (WireRequestStamp?) -> WireClientEnvelope
    ) -> PendingAnswer {
        begin(timeout: timeout, within: within) {
            $0.request(isChange: false, generation: generation, now: $1, make: make)
        }
    }

    /// As ``begin(timeout:within:generation:_:)``, for a request that is encoded already.
    func begin(timeout: Duration, within: Duration?, generation: Int?, _ request: EncodedRequest) -> PendingAnswer {
        begin(timeout: timeout, within: within) { $0.request(request, generation: generation, now: $1) }
    }

    /// Waits for the answer to ``begin(timeout:within:generation:_:)``. Throws as ``request(isChange:timeout:_:)``.
    func answer(_ answer: PendingAnswer) async throws(CKError) -> ServerReply {
        try await outcome(of: answer).orRefusal()
    }

    /// Nobody will wait for the answer.
    func abandon(_ answer: PendingAnswer) {
        cancel(answer.id)
    }

    private func deadline(of id: UInt64, after wait: Duration) -> ScheduledTimer {
        scheduler.schedule(after: wait) { [weak self] in self?.lookAtPatience(of: id) }
    }

    /// The request's time is over, unless bytes have moved meanwhile.
    private func lookAtPatience(of id: UInt64) {
        update { state, now in
            guard let patience = state.waiters[id]?.patience else { return [] }
            guard let rest = patience.rest(at: now.monotonic, lastProgress: state.lastProgress) else {
                return state.machine.timeOut(id, now: now)
            }
            state.waiters[id]?.deadline = deadline(of: id, after: rest)
            return []
        }
    }

    private func cancel(_ id: UInt64) {
        guard id != 0 else { return }
        update { $0.machine.cancel(id, now: $1) }
    }

    // MARK: Observers

    /// Adds an observer, which is held weakly. From now on the connection is kept up, because pushes arrive over it.
    package func observe(_ observer: any CloudConnectionObserver) {
        update { state, now in
            state.observers.removeAll { $0.object == nil || $0.object === observer }
            state.observers.append(Observer(object: observer))
            return state.machine.keepConnection(now: now)
        }
    }

    package func stopObserving(_ observer: any CloudConnectionObserver) {
        state.withLock { $0.observers.removeAll { $0.object == nil || $0.object === observer } }
    }

    /// Ends the wait before the next attempt, because the network is back or the credential was renewed.
    package func retryNow() {
        update { $0.machine.retryNow(now: $1) }
    }

    /// How often the credential, or its user, has changed. Work that began for one account must not continue for another.
    package var credentialGeneration: Int { state.withLock { $0.machine.generation } }

    /// Changes the credential. Every request under way fails with `operationCancelled`. The connection ends, and is
    /// opened with the new credential when somebody needs it.
    ///
    /// - Parameters:
    ///   - credential: empty if nobody is signed in. Then the connection is not kept up until it is observed again.
    ///   - tokens: gives the credential of each attempt in place of it.
    func changeCredential(_ credential: String, tokens: TokenSource? = nil) {
        update { state, now in
            // A token that is on its way was for the account before.
            (state.tokens, state.asking) = (tokens, nil)
            return state.machine.changeCredential(credential, renews: tokens != nil, now: now)
        }
    }

    /// How often the connection was cut. A request that was sent before the last cut may have been sent twice.
    var cutCount: Int { state.withLock { $0.machine.cutCount } }

    /// Ends the connection and every request. It cannot be used again.
    package func stop() {
        update { state, _ in state.machine.stop() }
    }

    /// The user record's name, if it is known on an open connection.
    package var userRecordName: String? { state.withLock { $0.machine.userRecordName } }

    /// The incarnation of the store according to the last greeting; nil: the server does not say.
    var storeLife: UInt64? { state.withLock { $0.machine.storeLife } }

    /// The server's limits in its last greeting with this credential; nil if there was none.
    var limits: TidemarkLimits? { state.withLock { $0.machine.limits } }

    /// Whether the server wants to be told what the device has not sent yet.
    var wantsReports: Bool { state.withLock { $0.machine.wantsReports } }

    /// Tells the server what the device has not sent yet.
    ///
    /// - Returns: whether it was sent.
    func report(_ report: WirePendingReport) -> Bool {
        var isSent = false
        update { state, _ in
            let actions = state.machine.report(report)
            isSent = !actions.isEmpty
            return actions
        }
        return isSent
    }

    // MARK: CloudChannelObserver

    package func channelOpened(_ channel: any CloudChannel) {
        update { state, _ in state.channel === channel ? state.machine.opened() : [] }
    }

    package func channelReceived(_ channel: any CloudChannel, _ message: [UInt8]) {
        update { state, now in state.channel === channel ? state.machine.received(message, now: now) : [] }
    }

    package func channelProgressed(_ channel: any CloudChannel) {
        state.withLock { state in
            guard state.channel === channel else { return }
            state.lastProgress = scheduler.now
        }
    }

    package func channelClosed(_ channel: any CloudChannel, _ reason: ChannelClosing) {
        update { state, now in
            guard state.channel === channel else { return [] }
            state.channel = nil
            return state.machine.closed(reason, now: now, randomBits: scheduler.randomBits())
        }
    }

    // MARK: Underneath

    /// Lets the machine take a step, and carries out its actions.
    private func update(_ step: (inout State, ConnectionMachine.Moment) -> [ConnectionMachine.Action]) {
        let (answers, notifies) = state.withLock { state in
            // The moment is taken under the lock, so that time never goes backwards for the machine.
            let actions = step(&state, moment)
            let answers = actions.compactMap { perform($0, &state) }
            let notifies = !state.notifications.isEmpty && !state.isNotifying
            if notifies { state.isNotifying = true }
            return (answers, notifies)
        }
        for (waiter, result, mark) in answers {
            waiter.deadline?.cancel()
            RequestLog.ended(mark, result, since: waiter.patience.start, on: scheduler)
            waiter.answer.give(result.map { ServerReply($0, to: mark.uuid) })
        }
        if notifies { scheduler.run { [weak self] in self?.tellObservers() } }
    }

    private typealias Answer = (Waiter, Result<WireServerEnvelope, ConnectionMachine.RequestFailure>, RequestMark)

    private func perform(_ action: ConnectionMachine.Action, _ state: inout State) -> Answer? {
        switch action {
        case .connect:
            open(&state)
        case .closeChannel:
            // Its messages are still received until it is replaced.
            state.channel?.close()
        case .send(let message):
            state.channel?.send(message)
        case .wakeUp(let delay):
            _ = scheduler.schedule(after: delay) { [weak self] in self?.update { $0.machine.wokeUp(now: $1) } }
        case .answer(let id, let result, let mark):
            if let waiter = state.waiters.removeValue(forKey: id) { return (waiter, result, mark) }
        case .limitChunks(let byteCount):
            lane.limitChunks(to: byteCount)
        case .renewLife:
            state.machine.begin(life: scheduler.randomBytes16())
        case .replaceDevice:
            let device = scheduler.randomBytes16()
            state.machine.replace(device: device)
            state.tell(.deviceReplaced(device))
        case .notify(let notification):
            state.tell(notification)
        }
        return nil
    }

    /// Begins the attempt that the machine wants, now or as soon as it is permitted.
    private func open(_ state: inout State) {
        // The earlier channel is ignored from now on.
        state.channel = nil
        guard !state.isOpeningPlanned, state.asking == nil else { return }
        guard let wait = pacing.wait(at: scheduler.now) else {
            guard let tokens = state.tokens else {
                state.channel = transport.open(observer: self)
                return
            }
            return ask(tokens, &state)
        }
        state.isOpeningPlanned = true
        _ = scheduler.schedule(after: wait) { [weak self] in
            self?.update { state, _ in
                state.isOpeningPlanned = false
                return state.machine.state == .connecting && state.channel == nil ? [.connect] : []
            }
        }
    }

    /// Gets the credential of an attempt, and then continues with it.
    private func ask(_ tokens: TokenSource, _ state: inout State) {
        state.lastAsked += 1
        let number = state.lastAsked
        state.asking = number
        _ = scheduler.schedule(after: TokenSource.patience) { [weak self] in
            self?.told(number, .failed("The app's source of tokens gave none in time."))
        }
        tokens.ask { [weak self] in self?.told(number, $0) }
    }

    private func told(_ number: Int, _ answer: TokenSource.Answer) {
        update { state, now in
            guard state.asking == number else { return [] }
            state.asking = nil
            guard state.machine.state == .connecting, state.channel == nil else { return [] }
            switch answer {
            case .token(let token):
                state.machine.renew(credential: token)
                state.channel = transport.open(observer: self)
                return []
            case .failed(let fault):
                return state.machine.closed(.network(fault), now: now, randomBits: scheduler.randomBits())
            }
        }
    }

    /// Only one call at a time, so that observers get everything in order.
    private func tellObservers() {
        while true {
            let (notifications, observers) = state.withLock { state in
                defer { state.notifications = [] }
                if state.notifications.isEmpty { state.isNotifying = false }
                return (state.notifications, state.observers.compactMap(\.object))
            }
            guard !notifications.isEmpty else { return }
            for told in notifications {
                switch told.notification {
                case .connected: onStanding(false)
                case .refused(.notAuthenticated): onStanding(true)
                case .warned(let text): onWarning(text)
                case .refused, .disconnected, .push, .presence, .deviceReplaced, .pushesLost: break
                }
                for observer in observers { tell(observer, told) }
            }
        }
    }

    private func tell(_ observer: any CloudConnectionObserver, _ told: Told) {
        switch told.notification {
        case .connected(let name): observer.connected(userRecordName: name, generation: told.generation)
        case .disconnected: observer.disconnected()
        case .refused(let code): observer.refused(CKError.Code(code))
        case .push(let push): observer.pushed(push, generation: told.generation)
        case .presence(let push): observer.presence(push)
        case .deviceReplaced(let device): observer.deviceReplaced(by: device)
        case .warned: break
        case .pushesLost: observer.missedPushes()
        }
    }
}

/// Receives the events of a connection, on its scheduler, one call after the other.
///
/// Somebody else may have signed in since an event came. Its `generation` is the ``CloudConnection/credentialGeneration`` of the
/// account that it belongs to.
package protocol CloudConnectionObserver: AnyObject, Sendable {
    /// Hello was answered. An empty name means: connected without an account.
    func connected(userRecordName: String, generation: Int)
    func disconnected()
    /// The server refuses this device: its credential, its container or its version.
    func refused(_ code: CKError.Code)
    func pushed(_ push: WirePush, generation: Int)
    /// News of a topic that this connection has joined.
    func presence(_ push: WirePresencePush)
    /// Another device uses this device's identity. This device must keep the new one instead.
    ///
    /// - Parameter device: 16 bytes.
    func deviceReplaced(by device: [UInt8])
    /// Some pushes did not arrive, so anything may have changed.
    func missedPushes()
}

extension CloudConnectionObserver {
    package func presence(_ push: WirePresencePush) {}
}
