// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TidemarkBytes
internal import TidemarkTelemetry
internal import TidemarkWire

/// Decides what a device's connection does next, as a pure function of events, without socket, clock or task.
///
/// It keeps the requests that wait for an answer, in the order in which they were made. A request that changes data gets a
/// number when it is first sent. After a cut it is sent again with the same number, so that the server can tell.
struct ConnectionMachine {
    enum State: Equatable {
        /// Nobody needs a connection yet.
        case idle
        case connecting
        /// The channel is open, Hello is under way.
        case greeting
        case open
        /// Until the timer fires, or somebody asks after a failure and the last attempt is long enough ago.
        case waiting
        case stopped
    }

    private(set) var state = State.idle
    private(set) var userRecordName: String?
    /// The user in the last greeting with this credential; nil if there was none.
    private var greetedUser: String?
    /// The incarnation of the store according to the last greeting; nil: the server does not say.
    private(set) var storeLife: UInt64?
    private(set) var refusal: RequestFailure?
    /// Why the last attempt failed, until one succeeds: the server was not reached, or it said that it cannot serve now.
    private var fault: ConnectionFault?
    private var busyRefusal: RequestFailure?
    private var greeting = WireServerEnvelope()
    /// The part of the names of requests that the server gave to this channel. Nil: it names no requests.
    private var requestSession: UInt64?
    private var hello: WireHello
    private let serverName: String?
    /// Whether there is another credential for each attempt.
    private var renewsCredential: Bool
    /// How often the credential has changed, or whom the server names for it.
    private(set) var generation = 0
    private var requests: [UInt64: ConnectionRequest] = [:]
    /// Ids in the order in which they were made; growing.
    private var order: [UInt64] = []
    private var nextID: UInt64 = 1
    private var numbers = ChangeNumbers()
    private var failures = 0
    private var lastAttempt: Duration?
    /// Another attempt follows at once if the one under way fails: it began before there was reason to try again.
    private var isAttemptOld = false
    private var wasConnected = false
    /// Whether the channel is open and nothing more may be sent over it: the device's life that it was opened for has
    /// ended.
    private var hasEndedLife = false
    /// How many channels have come to an end.
    private(set) var cutCount = 0
    private var inFlightMax = 64
    private var pushes = HeardPushes()
    private var keepsConnection = false
    /// When the wait after a failed attempt is over: on the clock that gets there first.
    private var waitEnd: Moment?
    /// Until then the server wants no requests: on the clock that gets there first.
    private var silenceEnd: Moment?
    /// When the clocks are looked at next; timers of earlier waits come before.
    private var lookDue = Duration.zero

    /// - Parameters:
    ///   - serverName: as ``CloudTransport/serverName``.
    ///   - renewsCredential: whether each attempt gets a new credential, from ``renew(credential:)``.
    init(hello: WireHello, serverName: String? = nil, renewsCredential: Bool = false) {
        self.renewsCredential = renewsCredential
        self.hello = hello
        self.serverName = serverName
        self.hello.countsPushes = true
    }

    /// A request may try again at once if the last attempt is this long ago.
    static let attemptSpacing: Duration = .seconds(1)

    // MARK: What the app wants

    /// From now on the connection is kept up without requests: pushes are wanted.
    mutating func keepConnection(now: Moment) -> [Action] {
        keepsConnection = true
        guard state == .idle else { return [] }
        guard failures > 0 || refusal != nil, let rest = restOfWait(now: now) else { return connect(now: now) }
        state = .waiting
        return [look(after: rest, now: now)]
    }

    /// A new request; its answer comes as an action, perhaps at once.
    ///
    /// - Parameters:
    ///   - nonce: of a change: random bits that nobody else has, not even a copy of this machine.
    ///   - mayRepeat: whether the caller may ask for the change once more, with the same nonce. It is the same request then,
    ///     which the server does not carry out twice. The caller ends that by ``giveUp(nonce:)``.
    ///   - generation: for which credential it is meant; nil: whichever.
    mutating func request(
        isChange: Bool, nonce: UInt64 = 0, mayRepeat: Bool = false, generation: Int? = nil, now: Moment,
        make: @escaping @Sendable (WireRequestStamp?) -> WireClientEnvelope
    ) -> (id: UInt64, actions: [Action]) {
        guard !mayRepeat || !numbers.hasLost(nonce: nonce) else {
            defer { nextID += 1 }
            let failure = RequestFailure(code: .answerLost, serverName: serverName)
            return (nextID, [.answer(nextID, .failure(failure), RequestMark())])
        }
        let stamp = mayRepeat ? numbers.take(nonce: nonce) : nil
        return add(
            ConnectionRequest(
                isChange: isChange, make: make, nonce: nonce, mayRepeat: mayRepeat, stamp: stamp,
                isOutcomeOpen: stamp != nil),
            generation, now: now)
    }

    /// The server's limits in its last greeting with this credential; nil if there was none.
    var limits: TidemarkLimits? {
        greetedUser.map { TidemarkLimits(greeting.hello.limits, isSignedIn: !$0.isEmpty) }
    }

    /// Whether the server wants to be told what the device has not sent yet.
    var wantsReports: Bool { state == .open && !hasEndedLife && greeting.hello.wantsReports }

    /// Tells the server, which does not answer. Nothing, if it does not want to know.
    func report(_ report: WirePendingReport) -> [Action] {
        guard wantsReports else { return [] }
        var envelope = WireClientEnvelope()
        envelope.pendingReport = report
        return [.send(envelope.encoded)]
    }

    /// The change is not asked for again.
    mutating func giveUp(nonce: UInt64) {
        numbers.forget(nonce: nonce)
    }

    /// As ``request(isChange:generation:now:make:)``, for a part of an upload. If the connection is cut before it is
    /// answered it fails when there is another one.
    mutating func request(
        _ encoded: EncodedRequest, generation: Int? = nil, now: Moment
    ) -> (id: UInt64, actions: [Action]) {
        add(
            ConnectionRequest(
                isChange: false, isPart: true, bytes: encoded.take(id: nextID),
                mark: RequestMark(kind: .uploadAssetChunk)),
            generation, now: now)
    }

    /// The user who is signed in. It is answered from the answer to Hello, as soon as there is one.
    mutating func identify(generation: Int? = nil, now: Moment) -> (id: UInt64, actions: [Action]) {
        add(ConnectionRequest(isChange: false, isIdentification: true), generation, now: now)
    }

    private mutating func add(_ request: ConnectionRequest, _ generation: Int?, now: Moment) -> (
        id: UInt64, actions: [Action]
    ) {
        let id = nextID
        nextID += 1
        requests[id] = request
        order.append(id)
        guard generation ?? self.generation == self.generation else {
            return (id, finish(id, .failure(RequestFailure(code: .otherAccount))))
        }
        if !request.isIdentification, let rest = silence(now: now) {
            return (id, finish(id, .failure(Self.throttled(rest))))
        }
        switch state {
        case .open:
            return (id, sendWaiting(now: now))
        case .connecting, .greeting:
            return (id, [])
        // A connection that worked has been cut: the attempt that comes within 100 ms decides.
        case .waiting where refusal == nil && failures == 0:
            return (id, [])
        case .idle:
            if let failure = recentFailure(now: now) { return (id, finish(id, .failure(failure))) }
            return (id, connect(now: now))
        case .waiting where refusal == nil && now.monotonic - (lastAttempt ?? .zero) > Self.attemptSpacing:
            return (id, connect(now: now))
        case .waiting, .stopped:
            return (id, finish(id, .failure(refusal ?? offline)))
        }
    }

    private var offline: RequestFailure { busyRefusal ?? RequestFailure(code: .offline, fault: fault) }

    /// Why no connection is tried for a request though nobody waits for one: the last attempt was just now, or was refused.
    private func recentFailure(now: Moment) -> RequestFailure? {
        if let refusal { return restOfWait(now: now).map { _ in refusal } }
        guard failures > 0, let lastAttempt, now.monotonic - lastAttempt <= Self.attemptSpacing else { return nil }
        return offline
    }

    /// How long the wait after the last attempt goes on; nil if it is over.
    private func restOfWait(now: Moment) -> Duration? {
        guard let end = waitEnd, now.monotonic < end.monotonic, now.withSleep < end.withSleep else { return nil }
        return end.monotonic - now.monotonic
    }

    mutating func cancel(_ id: UInt64, now: Moment) -> [Action] {
        finish(id, .failure(RequestFailure(code: .cancelled))) + sendWaiting(now: now)
    }

    /// The request's time is over.
    mutating func timeOut(_ id: UInt64, now: Moment) -> [Action] {
        guard let request = requests[id] else { return [] }
        let code: RequestFailure.Code = !request.wasSent ? .offline : request.isChange ? .answerLost : .timedOut
        return finish(id, .failure(RequestFailure(code: code, fault: fault))) + sendWaiting(now: now)
    }

    mutating func stop() -> [Action] {
        guard state != .stopped else { return [] }
        let hasChannel = [.connecting, .greeting, .open].contains(state)
        state = .stopped
        let failures = order.flatMap { finish($0, .failure(RequestFailure(code: .offline))) }
        return (hasChannel ? [.closeChannel] : []) + failures
    }

    /// New credentials, or the network is said to be back: do not wait any longer.
    mutating func retryNow(now: Moment) -> [Action] {
        refusal = nil
        if state == .idle { (lastAttempt, waitEnd) = (nil, nil) }
        isAttemptOld = state == .connecting || state == .greeting
        return state == .waiting ? connect(now: now) : []
    }

    /// Somebody else is signed in, or nobody (an empty credential). Nothing that was asked for one account is done for
    /// another.
    ///
    /// - Parameter renews: whether each attempt gets a new credential from now on.
    mutating func changeCredential(_ credential: String, renews: Bool = false, now: Moment) -> [Action] {
        hello.credential = credential
        renewsCredential = renews
        generation += 1
        guard state != .stopped else { return [] }
        var actions = order.flatMap { finish($0, .failure(RequestFailure(code: .cancelled))) }
        if wasConnected { actions.append(.notify(.disconnected)) }
        if [.connecting, .greeting, .open].contains(state) { actions.append(.closeChannel) }
        (wasConnected, refusal, busyRefusal, userRecordName, failures, silenceEnd) = (false, nil, nil, nil, 0, nil)
        greetedUser = nil
        // signing out stops the socket.
        keepsConnection = keepsConnection && (!credential.isEmpty || renews)
        state = .idle
        return keepsConnection ? actions + connect(now: now) : actions
    }

    /// The credential for the attempt that begins. It belongs to the same account as the one before. If the server
    /// names another user for it, requests of one user are never carried out for the other.
    mutating func renew(credential: String) { hello.credential = credential }

    // MARK: What the channel says

    mutating func opened() -> [Action] {
        guard state == .connecting else { return [] }
        state = .greeting
        pushes = HeardPushes()
        hasEndedLife = false
        var envelope = WireClientEnvelope()
        envelope.id = nextID
        nextID += 1
        envelope.hello = hello
        return [.send(envelope.encoded)]
    }

    mutating func received(_ message: [UInt8], now: Moment) -> [Action] {
        guard let envelope = try? WireServerEnvelope(reading: message) else { return [.closeChannel] }
        switch (state, envelope.answer) {
        case (.greeting, .hello(let answer)):
            return answer.memoryEpoch == 0 ? refused(Self.serverTooOld) : greeted(answer, now: now)
        case (.greeting, .failure(let failure)):
            let session = RequestUUID.session(from: failure.requestSession)
            return refused(failure, to: session.map { RequestUUID(session: $0, number: envelope.id) })
        case (_, .push(let push)):
            switch pushes.pushed(envelope.pushesSent) {
            case .next: return [.notify(.push(push))]
            case .afterGap: return [.notify(.pushesLost), .notify(.push(push))]
            case .again: return []
            }
        case (_, .presence(let push)): return [.notify(.presence(push))]
        default:
            let lost: [Action] = pushes.told(of: envelope.pushesSent) ? [.notify(.pushesLost)] : []
            if envelope.id == 0, envelope.answer == nil {
                return lost + (state == .open ? [.send(pushes.acknowledgement())] : [])
            }
            if case .failure(let failure) = envelope.answer {
                noteThrottling(failure, now: now)
                // a request that was sent before a cut waits for its outcome.
                if failure.code == .requestRateLimited, silence(now: now) != nil, requests[envelope.id]?.wasCut == true
                {
                    requests[envelope.id]?.isSentOnThisChannel = false
                    return lost + sendWaiting(now: now)
                }
                // The server may have lost its store during the commit.
                if failure.code == .serviceUnavailable { requests[envelope.id]?.isOutcomeOpen = true }
                if mayShareLife(failure, envelope.id) { return lost + endLife() }
            }
            return lost + finish(envelope.id, .success(envelope)) + sendWaiting(now: now)
        }
    }

    // MARK: Lives and identities

    /// From now on requests belong to this life of the device, and are numbered from the start. The next Hello tells
    /// the server.
    mutating func begin(life: [UInt8]) {
        hello.life = life
        numbers.beginLife()
    }

    /// From now on the device has this identity. The next Hello tells the server.
    mutating func replace(device: [UInt8]) {
        hello.device = device
    }

    /// Whether the server cannot tell what became of a change. Another process may have the same life, such as a copy
    /// of a running machine. Then this would happen again and again.
    private func mayShareLife(_ failure: WireFailure, _ id: UInt64) -> Bool {
        failure.code == .serverResponseLost && requests[id]?.stamp != nil
    }

    /// Outcomes of requests in this life of the device can no longer be asked for, because another process may have
    /// used the same numbers. The caller learns that the answer is lost, reads, and sends again.
    private mutating func endLife() -> [Action] {
        hasEndedLife = true
        let sent = order.filter { requests[$0]?.stamp != nil }
        return sent.flatMap { finish($0, .failure(RequestFailure(code: .answerLost))) } + [.renewLife, .closeChannel]
    }

    // MARK: Throttling

    private mutating func noteThrottling(_ failure: WireFailure, now: Moment) {
        guard failure.code == .requestRateLimited, failure.retryAfterSeconds > 0 else { return }
        let wait = Duration.seconds(min(failure.retryAfterSeconds, Self.silenceSecondsMax))
        // If there are several refusals, the one that ends last counts.
        if let rest = silence(now: now), rest > wait { return }
        silenceEnd = now.later(by: wait)
    }

    /// No server silences a device for longer, whatever it says.
    private static let silenceSecondsMax: Double = 86_400

    /// How long nothing must be sent; nil if anything may.
    private func silence(now: Moment) -> Duration? {
        guard let end = silenceEnd, now.monotonic < end.monotonic, now.withSleep < end.withSleep else { return nil }
        return end.monotonic - now.monotonic
    }

    private static func throttled(_ rest: Duration) -> RequestFailure {
        // Rounded up: who waits that long waits long enough.
        RequestFailure(code: .refused(.requestRateLimited), retryAfter: (rest / .milliseconds(1)).rounded(.up) / 1_000)
    }

    /// For a server that tells requests by clocks: it would take every save for an old one, and refuse it for good.
    private static var serverTooOld: WireFailure {
        var failure = WireFailure()
        failure.code = .incompatibleVersion
        failure.message = "The server is too old for this app: it counts no memory epochs. Update the server."
        return failure
    }

    private mutating func greeted(_ answer: WireHelloAnswer, now: Moment) -> [Action] {
        state = .open
        failures = 0
        (refusal, fault, busyRefusal) = (nil, nil, nil)
        wasConnected = true
        userRecordName = answer.userRecordName
        storeLife = answer.storeLife == 0 ? nil : answer.storeLife
        greeting.hello = answer
        requestSession = RequestUUID.session(from: answer.requestSession)
        if answer.limits.requestsInFlightMax > 0 {
            inFlightMax = min(inFlightMax, Int(answer.limits.requestsInFlightMax))
        }
        let chunkBytesMax = Int(answer.limits.assetChunkBytesMax)
        var actions = noteUser(answer.userRecordName)
        if chunkBytesMax > 0 { actions.append(.limitChunks(chunkBytesMax)) }
        if answer.deviceTaken { actions.append(.replaceDevice) }
        actions += answer.warnings.map { .notify(.warned($0)) }
        actions.append(.notify(.connected(userRecordName: answer.userRecordName)))
        return actions + sendWaiting(now: now)
    }

    /// if the server names another user for the same credential, requests of the user before are not carried
    /// out.
    private mutating func noteUser(_ name: String) -> [Action] {
        defer { greetedUser = name }
        guard let last = greetedUser, last != name else { return [] }
        generation += 1
        return fail(order.filter { requests[$0]?.isIdentification == false }, RequestFailure(code: .otherAccount))
    }

    /// If only a person can help, everybody who waits gets the error, and the connection is tried again from time to time. If the server is
    /// busy or stops, it counts as not reached: requests that were sent wait for the next attempt.
    private mutating func refused(_ failure: WireFailure, to greeting: RequestUUID? = nil) -> [Action] {
        let refusal = RequestFailure(
            code: .refused(failure.code), message: failure.message, retryAfter: failure.retryAfterSeconds,
            isOfGreeting: true, hasCredential: !hello.credential.isEmpty, signInProblem: failure.signInProblem,
            request: greeting)
        if Self.passing.contains(failure.code) {
            busyRefusal = refusal
            return [.closeChannel]
        }
        self.refusal = refusal
        userRecordName = nil
        return fail(order, refusal) + [.notify(.refused(failure.code)), .closeChannel]
    }

    /// A change that was sent over an earlier channel may have been carried out.
    private mutating func fail(_ ids: [UInt64], _ failure: RequestFailure) -> [Action] {
        let lost = RequestFailure(code: .answerLost)
        return ids.flatMap { finish($0, .failure(requests[$0]?.stamp == nil ? failure : lost)) }
    }

    /// Refusals of a connection that nobody needs to mend.
    private static let passing: [WireErrorCode] = [.serviceUnavailable, .requestRateLimited, .zoneBusy, .internalError]
    /// No busy server keeps a device away for longer, whatever it says.
    private static let busySecondsMax: Double = 60

    mutating func closed(_ reason: ChannelClosing, now: Moment, randomBits: UInt64) -> [Action] {
        // Idle: the channel that signing out has closed.
        guard state != .stopped, state != .idle else { return [] }
        let wasOpen = state == .open
        state = .waiting
        cutCount += 1
        for id in order {
            if requests[id]?.isSentOnThisChannel == true { requests[id]?.wasCut = true }
            requests[id]?.isSentOnThisChannel = false
            if let request = requests[id], request.isPart, request.wasSent { requests[id]?.bytes = [] }
        }
        var actions: [Action] = []
        // A session whose token has expired goes on with the next one. If that is refused too, it is said so.
        let isRenewed = wasOpen && renewsCredential
        if case .server(let code, let text) = reason, code == 4401, refusal == nil, !isRenewed {
            var failure = WireFailure()
            failure.code = .notAuthenticated
            failure.message = text
            actions += refused(failure).filter { if case .closeChannel = $0 { false } else { true } }
        }
        if case .incompatible(let why) = reason {
            var failure = WireFailure()
            failure.code = .incompatibleVersion
            failure.message = why
            actions += refused(failure).filter { if case .closeChannel = $0 { false } else { true } }
        }
        if case .untrusted(let why) = reason {
            refusal = RequestFailure(code: .offline, message: why)
        }
        if case .network(let why) = reason { fault = why }
        if !wasOpen {
            if isAttemptOld, refusal == nil { return actions + connect(now: now) }
            failures += 1
            // A request that was never sent need not wait: the caller decides.
            for id in order where requests[id]?.wasSent == false {
                actions += finish(id, .failure(refusal ?? offline))
            }
        }
        if wasConnected { actions.append(.notify(.disconnected)) }
        wasConnected = false
        // The server may send any number, and NaN as well.
        let busy = Duration.seconds(max(0, min(busyRefusal?.retryAfter ?? 0, Self.busySecondsMax)))
        let wait =
            refusal == nil
            ? busy + ReconnectPolicy.wait(failures: failures, randomBits: randomBits)
            : ReconnectPolicy.jittered(ReconnectPolicy.refusedWait, randomBits: randomBits)
        waitEnd = now.later(by: wait)
        guard keepsConnection || !requests.isEmpty else {
            state = .idle
            return actions
        }
        return actions + [look(after: wait, now: now)]
    }

    /// How long the wait after a failed attempt goes on without a look at the clocks. While a laptop sleeps its timers stand
    /// still.
    private static let lookInterval: Duration = .seconds(2)

    /// Time to look whether the wait after a failed attempt is over, or the server's silence.
    mutating func wokeUp(now: Moment) -> [Action] {
        if state == .open { return sendWaiting(now: now) }
        guard state == .waiting, now.monotonic >= lookDue, let end = waitEnd else { return [] }
        let rest = end.monotonic - now.monotonic
        if rest <= .zero || now.withSleep >= end.withSleep { return connect(now: now) }
        return [look(after: rest, now: now)]
    }

    private mutating func look(after rest: Duration, now: Moment) -> Action {
        let delay = min(rest, Self.lookInterval)
        lookDue = now.monotonic + delay
        return .wakeUp(after: delay)
    }

    // MARK: Underneath

    private mutating func connect(now: Moment) -> [Action] {
        state = .connecting
        busyRefusal = nil
        isAttemptOld = false
        lastAttempt = now.monotonic
        return [.connect]
    }

    private mutating func finish(
        _ id: UInt64, _ result: Result<WireServerEnvelope, RequestFailure>
    ) -> [Action] {
        guard var request = requests.removeValue(forKey: id) else { return [] }
        if case .failure = result { request.isOutcomeOpen = true }
        if request.mayRepeat, request.isOutcomeOpen, let stamp = request.stamp { numbers.keep(stamp) }
        if let index = order.firstIndex(of: id) { order.remove(at: index) }
        guard case .failure(var failure) = result else { return [.answer(id, result, request.mark)] }
        failure.serverName = serverName
        if failure.request == nil, !failure.isOfGreeting { failure.request = request.mark.uuid }
        return [.answer(id, .failure(failure), request.mark)]
    }

    private mutating func sendWaiting(now: Moment) -> [Action] {
        guard state == .open, !hasEndedLife else { return [] }
        var inFlight = order.count { requests[$0]?.isSentOnThisChannel == true }
        guard inFlight < order.count else { return [] }
        var actions: [Action] = []
        let silence = silence(now: now)
        var isHeldBack = false
        for id in order where requests[id]?.isSentOnThisChannel == false {
            if requests[id]?.isIdentification == true {
                actions += finish(id, .success(greeting))
                continue
            }
            if requests[id]?.isPart == true, requests[id]?.wasSent == true {
                actions += finish(id, .failure(RequestFailure(code: .cut)))
                continue
            }
            if let silence {
                // A request that was sent before a cut may have been carried out. It waits for its outcome.
                if requests[id]?.wasSent == true {
                    isHeldBack = true
                } else {
                    actions += finish(id, .failure(Self.throttled(silence)))
                }
                continue
            }
            guard inFlight < inFlightMax else { break }
            let bytes = encodeForSending(id)
            if let refusal = refusal(ofMessageWith: bytes.count) {
                requests[id]?.mark = RequestMark()
                actions += finish(id, .failure(refusal))
                continue
            }
            inFlight += 1
            actions.append(.send(requests[id]?.isPart == true ? bytes : pushes.acknowledging(with: bytes)))
        }
        if isHeldBack, let silence, now.monotonic >= lookDue { actions.append(look(after: silence, now: now)) }
        return actions
    }

    /// to a message that is too long the server answers by closing the connection, and would each time.
    private func refusal(ofMessageWith byteCount: Int) -> RequestFailure? {
        let most = Int(greeting.hello.limits.messageBytesMax)
        guard most > 0, byteCount > most else { return nil }
        return RequestFailure(
            code: .refused(.limitExceeded),
            message: """
                Your request is \(byteCount) bytes long, more than the server takes in one message (\(most)). Split it in \
                half.
                """)
    }

    private mutating func encodeForSending(_ id: UInt64) -> [UInt8] {
        guard var request = requests[id] else { return [] }
        var bytes = request.bytes
        if let make = request.make {
            if request.isChange { request.stamp = stamp(for: request) }
            var envelope = make(request.stamp)
            envelope.id = id
            bytes = envelope.encoded
            request.mark.kind = envelope.request?.kind
            // A change that is sent again says so: it is made once more then, which is rare.
            if !request.isChange { (request.make, request.bytes) = (nil, bytes) }
        }
        request.mark.uuid = requestSession.map { RequestUUID(session: $0, number: id) }
        request.isSentOnThisChannel = true
        request.wasSent = true
        requests[id] = request
        return bytes
    }

    private mutating func stamp(for request: ConnectionRequest) -> WireRequestStamp {
        if var stamp = request.stamp {
            stamp.repeated = true
            return stamp
        }
        let lowestUnanswered = order.lazy.compactMap { [requests] in requests[$0]?.stamp?.counter }.min()
        return numbers.stamp(
            nonce: request.nonce, epoch: greeting.hello.memoryEpoch, lowestUnanswered: lowestUnanswered)
    }
}
