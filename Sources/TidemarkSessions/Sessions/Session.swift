// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import TidemarkDomain
internal import TidemarkFairness
internal import TidemarkScheduling
internal import TidemarkService
internal import TidemarkTelemetry
internal import TidemarkTranslation
internal import TidemarkWire

/// One connection: performs what its ``SessionMachine`` decides.
///
/// All calls come on the hub's scheduler. Holds its peer until ``closed()``, which whoever owns the connection must call
/// when the connection is gone, for whatever reason.
package final class Session: Sendable {
    private struct State {
        var machine: SessionMachine
        var peer: (any SessionPeer)?
        var member: SessionMember?
        /// Where its requests run. All connections of an account have the same.
        var lane: OwnerLane?
        // Timers hold their session, and `closed()` cancels them. A weak reference would take 32 more bytes for each.

        /// Until it is open, for `Hello`. Then for the end of the credential, or for requests of a session without one.
        var timer: ScheduledTimer?
        var slowTimer: ScheduledTimer?
        /// When a session without a credential last asked for something, or was opened.
        var lastRequest = Duration.zero
        var lease = RequestLease()
        var pushes = DevicePushMachine()
        /// Made when a request needs them: most connections are idle.
        var asker: Asker?
        var ownersOrder: OwnersOrder?
        var ownOrder: OwnersOrder?
        /// Queries under way, and what waits for its turn, by the ids of their requests. They end with the connection.
        var cancellable: [UInt64: Task<Void, Never>] = [:]

        var owner: WorkOwner { member?.owner ?? .nobody }
    }

    /// Unique in its hub, growing.
    let number: UInt64
    let hub: SessionHub
    /// Where is noted what happens to its device. Nil: nowhere.
    let trail = Mutex<DeviceTrail?>(nil)
    private let state: Mutex<State>

    init(number: UInt64, hub: SessionHub, peer: any SessionPeer) {
        self.number = number
        self.hub = hub
        state = Mutex(State(machine: SessionMachine(hub.bounds), peer: peer))
    }

    /// Who is here; nil before `Hello` was answered.
    var member: SessionMember? { state.withLock { $0.member } }
    /// Where the requests of its account run; nil before `Hello` was answered.
    var lane: (any TaskExecutor)? { state.withLock { $0.lane?.executor } }

    /// Waits for the outcomes of this connection's requests.
    var asker: Asker {
        state.withLock { state in
            if let asker = state.asker { return asker }
            let asker = Asker()
            // The connection may have ended before its request asks.
            if state.peer == nil { asker.leave() }
            state.asker = asker
            return asker
        }
    }

    /// Keeps the order of this connection's requests in the shared database.
    var ownersOrder: OwnersOrder { state.withLock { Self.made(&$0.ownersOrder) } }

    /// Keeps the order of those in the other databases, which have none of its zones. They wait for no look at owners.
    var ownOrder: OwnersOrder { state.withLock { Self.made(&$0.ownOrder) } }

    private static func made(_ kept: inout OwnersOrder?) -> OwnersOrder {
        if let kept { return kept }
        let order = OwnersOrder()
        kept = order
        return order
    }

    // MARK: What the connection tells

    /// A binary message came.
    package func received(_ bytes: [UInt8]) {
        let message = try? ClientMessage(bytes, at: hub.scheduler.now)
        if let message {
            if message.pushesHeard > 0 { acknowledged(message.pushesHeard) }
            if let report = message.pendingReport { noteReport(report) }
        }
        let needed = message?.memory ?? 0
        perform(
            state.withLock { state in
                if state.machine.isAnonymous, message?.request != nil { state.lastRequest = hub.scheduler.now }
                guard state.machine.phase == .open else { return state.machine.received(message) }
                let refusal = hub.rateRefusal(of: message, by: state.member?.identity)
                let before = state.machine.underWayBytes
                // The usual case asks for no owner.
                let room =
                    state.lease.covers(before + needed)
                    ? .ample : state.lease.cover(before + needed, for: state.owner, in: hub.settings.requestBudget)
                let actions = state.machine.received(message, room: room, rateRefusal: refusal)
                // A message that was refused needs no memory any more.
                if state.machine.underWayBytes == before { returnMemory(&state) }
                return actions
            })
    }

    /// An operator chose other limits.
    func renew(_ limits: AccountLimits) { state.withLock { $0.member?.identity?.limits = limits } }

    private func acknowledged(_ count: UInt64) {
        let now = hub.scheduler.now
        let (new, heard) = state.withLock { state -> (Int, DevicePushMachine?) in
            let wasOwed = state.pushes.countForAnswer != nil
            let new = state.pushes.acknowledged(count, at: now)
            return (new, wasOwed && state.pushes.countForAnswer == nil ? state.pushes : nil)
        }
        if new > 0 { SessionMetrics.shared.acknowledgedPushes.increment(by: new) }
        if let heard { noteHeard(heard) }
    }

    /// Queued bytes were taken by the other end.
    package func drained() {
        guard let peer = state.withLock({ $0.peer }) else { return }
        let queued = peer.queuedByteCount
        perform(decide { $0.queued(queued) })
    }

    /// The connection is gone.
    package func closed() {
        let now = hub.scheduler.now
        countUnacknowledged(state.withLock { $0.pushes.ended(at: now, after: hub.settings.pushPatience) })
        let (timers, tasks) = state.withLock { state in
            state.machine.closed()
            state.peer = nil
            state.asker?.leave()
            returnMemory(&state)
            defer {
                state.cancellable = [:]
                state.timer = nil
                state.slowTimer = nil
            }
            return ([state.timer, state.slowTimer], state.cancellable)
        }
        for timer in timers { timer?.cancel() }
        // what waits for a turn leaves.
        for task in tasks.values { task.cancel() }
        closeTrail()
        hub.remove(self)
    }

    // MARK: What the hub tells

    func start() {
        state.withLock { $0.peer }?.limitMessages(to: hub.settings.helloBytesMax)
        let timer = hub.scheduler.schedule(after: hub.settings.helloTimeout) { [self] in
            perform(decide { $0.helloTimedOut() })
        }
        state.withLock { $0.timer = timer }
    }

    /// Sends what many get.
    func push(_ message: SharedMessage) {
        guard let number = numberOfNextPush(.hint) else { return send { $0.send(message) } }
        push(message.bytes, number)
    }

    private func push(_ message: consuming [UInt8], _ number: UInt64) {
        PushCount.append(sent: number, to: &message)
        let numbered = message
        send { $0.send(numbered) }
        hub.pushes.remindLater()
    }

    /// Nil: the device does not count them.
    private func numberOfNextPush(_ content: SessionMetrics.PushContent) -> UInt64? {
        SessionMetrics.shared.pushes.increment(content)
        let now = hub.scheduler.now
        let number = state.withLock { state -> UInt64? in
            state.machine.pushed()
            return state.peer == nil ? nil : state.pushes.pushed(at: now)
        }
        if number != nil { notePush() }
        return number
    }

    /// Reminds the device of pushes that it has not acknowledged, if it has had time.
    ///
    /// - Returns: whether something is owed.
    func remind() -> Bool {
        let (now, patience) = (hub.scheduler.now, hub.settings.pushPatience)
        switch state.withLock({ $0.peer == nil ? .nothingOwed : $0.pushes.remind(at: now, after: patience) }) {
        case .nothingOwed: return false
        case .later: return true
        case .send(let count, let unacknowledged):
            countUnacknowledged(unacknowledged)
            var reminder: [UInt8] = []
            PushCount.append(sent: count, to: &reminder)
            send { [reminder] in $0.send(reminder) }
            return true
        }
    }

    private func countUnacknowledged(_ count: Int) {
        guard count > 0 else { return }
        SessionMetrics.shared.unacknowledgedPushes.increment(by: count)
        noteMissed(count)
        FailureLog.shared.note(
            .info, "pushes were not acknowledged", cause: "a silent device",
            ["session": "\(number)", "count": "\(count)"], request: nil)
    }

    /// The device is answered pages of its feeds.
    func answered(_ event: (inout DevicePushMachine) -> Void) {
        state.withLock { event(&$0.pushes) }
    }

    /// Whether the device does not fetch although changes were pushed to it.
    var reliesOnPushes: Bool { state.withLock { $0.pushes.reliesOnPushes } }

    /// The pages to push to the device after a small commit. Nil: a push without pages, so that the device fetches.
    ///
    /// A fetch asks the store for the names of other users, if it must. A push does not wait for that.
    func committed(_ news: ZoneNews, in database: DatabaseID) -> SeenPages? {
        guard let member, let identity = member.identity, identity.privateDatabase == database,
            let names = hub.service.knownUserRecordNames(of: news.records.users(besides: identity.user))
        else { return nil }
        let pages = state.withLock { state -> PushedPages? in
            guard let peer = state.peer else { return nil }
            return state.pushes.committed(
                news, of: database, for: member.device, isReading: peer.queuedByteCount == 0)
        }
        guard let pages, var viewpoint = try? member.viewpoint() else { return nil }
        viewpoint.userNames = names
        return SeenPages(pages: pages, viewpoint: viewpoint)
    }

    func push(_ push: WirePush, with seen: SeenPages) {
        let pages = seen.pages
        let encoded = try? ZonePageEncoder.push(
            push, pages.database, then: pages.zone, after: (pages.databaseToken, pages.zoneToken),
            seenFrom: seen.viewpoint)
        // I-4: a push without pages, so that the device fetches.
        guard let message = encoded else { return self.push(SharedMessage(ServerMessage.push(push))) }
        guard let number = numberOfNextPush(.changes) else { return send { $0.send(message) } }
        self.push(consume message, number)
    }

    func end(_ why: SessionClose) {
        perform(decide { $0.end(why) })
    }

    /// Answers what runs, takes nothing new, then closes.
    func stop(_ why: SessionClose) {
        perform(decide { $0.stop(why) })
    }

    // MARK: Doing

    private func decide(_ event: (inout SessionMachine) -> [SessionMachine.Action]) -> [SessionMachine.Action] {
        state.withLock { event(&$0.machine) }
    }

    private func perform(_ actions: [SessionMachine.Action]) {
        for action in actions {
            switch action {
            case .greet(let id, let hello): greet(id, hello)
            case .start(let message): answer(message)
            case .refuse(let id, let refusal):
                hub.reports.refused(uuid(of: id), refusal)
                noteRefusal(refusal)
                SessionMetrics.shared.requests.increment(.unread, RequestResult(refusal.code))
                send { $0.send(ServerMessage.failure(id, refusal)) }
            case .pauseReading: state.withLock { $0.peer }?.pauseReading()
            case .resumeReading: state.withLock { $0.peer }?.resumeReading()
            case .peerIsSlow(let isSlow): watchSlowPeer(isSlow)
            case .close(let why): close(why)
            }
        }
    }

    func send(_ deliver: (any SessionPeer) -> Void) {
        guard let peer = state.withLock({ $0.peer }) else { return }
        deliver(peer)
        let queued = peer.queuedByteCount
        perform(decide { $0.queued(queued) })
    }

    private func close(_ why: SessionClose) {
        hub.remove(self)
        closeTrail()
        state.withLock { $0.peer }?.close(code: why.code, reason: why.reason)
    }

    private func watchSlowPeer(_ isSlow: Bool) {
        let old = state.withLock { state in
            defer { state.slowTimer = nil }
            return state.slowTimer
        }
        old?.cancel()
        guard isSlow else { return }
        let timer = hub.scheduler.schedule(after: hub.settings.slowReaderTimeout) { [self] in
            perform(decide { $0.peerTimedOut() })
        }
        state.withLock { $0.slowTimer = timer }
    }
}

// MARK: Requests

extension Session {
    private func greet(_ id: UInt64, _ hello: WireHello) {
        let trace = hub.reports.trace(uuid(of: id))
        let greeting = GreetingUnderWay(id: id, began: hub.scheduler.now, trace: trace)
        SessionMetrics.shared.underWay.add(1)
        if hello.credential.isEmpty, let peer = state.withLock({ $0.peer }), !peer.mayBeNobody {
            tellRefusal(of: id, .foreignPage, hello)
            return refuse(greeting, .foreignPage, .notAuthenticated)
        }
        // NB: beside the lanes it would come before all requests. To verify a token takes a processor longer than a small request.
        let lane = hub.lanes.lane(ofNewcomerShowing: hello.credential)
        let task = lane.run { [self] in
            defer { withExtendedLifetime(lane) {} }
            switch await RequestTrace.$current.withValue(trace, operation: { await greetInTurn(id, hello) }) {
            case .welcome(let member, let answer):
                state.withLock { $0.pushes.greeted(countsPushes: hello.countsPushes) }
                open(greeting, member, answer)
            case .refused(let refusal, let why):
                if why == .notAuthenticated {
                    tellRefusal(of: id, hello.credential.isEmpty ? .noCredential : .init(refusal), hello)
                }
                refuse(greeting, refusal, why)
            }
        }
        state.withLock { if $0.machine.phase == .authenticating { $0.cancellable[id] = task } }
    }

    /// The answer to `Hello`, when it is the turn of those with its credential.
    private func greetInTurn(_ id: UInt64, _ hello: WireHello) async -> Authentication.Outcome {
        let (host, network) = state.withLock { $0.peer.map { ($0.host, $0.network) } } ?? ("", "")
        let greeting: Greeting
        let holder: (any TokenHolder)?
        switch await hub.authentication.look(at: hello, from: host, network) {
        case .greeting(let read, let found): (greeting, holder) = (read, found)
        case .refused(let refusal, let why): return .refused(refusal, why)
        }
        let gate = hub.gates.greetings
        let owner: WorkOwner =
            hello.credential.isEmpty ? .nobody : .newcomer(holder?.key.hashValue ?? hello.credential.hashValue)
        let ticket: WorkTicket
        do {
            ticket = try await turn(of: owner, at: gate, for: id)
        } catch {
            return .refused(.crowded(retryAfter: error.retryAfter), .tryAgainLater)
        }
        defer { gate.leave(ticket) }
        return await hub.authentication.answer(greeting, holder, from: host, network)
    }

    private func open(_ greeting: GreetingUnderWay, _ member: SessionMember, _ answer: WireHelloAnswer) {
        let id = greeting.id
        let lane = hub.lanes.lane(of: member.owner)
        let now = hub.scheduler.now
        let timer = state.withLock { state in
            guard state.machine.phase == .authenticating else { return ScheduledTimer?.none }
            (state.member, state.lane, state.lastRequest) = (member, lane, now)
            // Hello's turn is over. An idle connection keeps no empty table.
            state.cancellable = [:]
            state.machine.opened(isAnonymous: member.identity == nil)
            defer { state.timer = nil }
            return state.timer
        }
        guard let timer else { return count(greeting, .disconnected) }
        timer.cancel()
        SessionMetrics.shared.sessions.add(-1, .newcomer)
        SessionMetrics.shared.sessions.add(1, .init(member))
        let admission = hub.admit(self, member)
        guard admission != .refused else {
            return refuse(greeting, .tooManyOfAccount(member.identity?.limits, hub.settings), .tooMany)
        }
        guard takePlace(greeting, member) else { return }
        var answer = answer
        answer.deviceTaken = admission == .deviceTaken
        answer.requestSession = requestSession
        answer.wantsReports = hub.settings.devices != nil && member.identity != nil
        openTrail(of: member, isDeviceTaken: answer.deviceTaken)
        if answer.deviceTaken { ConnectionReports.copied(member, session: number) }
        hub.reports.opened(uuid(of: id), session: number, member)
        count(greeting, .ok)
        send { [answer] in $0.send(ServerMessage.answer(id, .hello(answer))) }
        if member.identity == nil { watchIdling() } else { watchExpiry(member) }
        hub.pushes.join(self, member)
    }

    /// Lets the connection count as what it is now, and lets it send messages of the size that it may.
    private func takePlace(_ greeting: GreetingUnderWay, _ member: SessionMember) -> Bool {
        let place = state.withLock { $0.peer }.map { peer in
            let place = peer.takePlace(of: member.identity?.account)
            if place == .taken {
                peer.limitMessages(to: hub.settings.messageBytesMax(isAnonymous: member.identity == nil))
            }
            return place
        }
        switch place {
        // It may have had to give way meanwhile.
        case .taken? where state.withLock { $0.peer != nil }: return true
        case nil, .taken?: count(greeting, .disconnected)
        case .tooManyOfAddress?: refuse(greeting, .noPlace(ofAddress: true, hub.settings), .tooMany)
        case .tooManyInAll?: refuse(greeting, .noPlace(ofAddress: false, hub.settings), .noPlace)
        }
        return false
    }

    /// The answer to a `Hello` that is refused. Its client learns by it how the refusal is named.
    private func refuse(_ greeting: GreetingUnderWay, _ refusal: Refusal, _ why: SessionClose) {
        count(greeting, RequestResult(refusal.code))
        send { $0.send(ServerMessage.refusedHello(greeting.id, refusal, requestSession: requestSession)) }
        end(why)
    }

    /// Each `Hello` counts once, before its answer is sent.
    private func count(_ greeting: GreetingUnderWay, _ result: RequestResult) {
        let end = hub.scheduler.now
        SessionMetrics.shared.answered(.hello, result, after: end - greeting.began)
        hub.reports.answered(greeting, result, at: end)
    }

    private func tellRefusal(of id: UInt64, _ cause: ConnectionReports.Refused, _ hello: WireHello) {
        ConnectionReports.refused(cause, hello, request: uuid(of: id), address: state.withLock { $0.peer }?.address)
    }

    private var sessionBits: UInt64 { RequestUUID.session(seed: hub.settings.requestSeed, number: number) }
    private var requestSession: [UInt8] { RequestUUID.bytes(ofSession: sessionBits) }

    /// How a request of this connection is named here and at its client.
    func uuid(of id: UInt64) -> RequestUUID { RequestUUID(session: sessionBits, number: id) }

    /// Closes a session without a credential that asks for nothing.
    private func watchIdling() {
        let patience = hub.settings.anonymousIdleTimeout
        wait(for: hub.scheduler.schedule(after: patience / 2) { [self] in lookWhetherIdle() })
    }

    /// Keeps the timer, unless the connection is gone. The one before it has fired or is cancelled.
    private func wait(for timer: ScheduledTimer) {
        let isGone = state.withLock { state in
            guard state.peer != nil else { return true }
            state.timer = timer
            return false
        }
        if isGone { timer.cancel() }
    }

    private func lookWhetherIdle() {
        let (now, patience) = (hub.scheduler.now, hub.settings.anonymousIdleTimeout)
        let isIdle = state.withLock { $0.machine.requestCount == 0 && now - $0.lastRequest >= patience }
        if isIdle { end(.idle) } else { watchIdling() }
    }

    private func answer(_ message: ClientMessage) {
        let (known, lane) = state.withLock { ($0.member, $0.lane) }
        guard let member = known, let lane else { return }
        guard !member.isExpired(hub.now) else {
            end(.notAuthenticated)
            return finish(message.id)
        }
        let (gate, isQuery) = (message.request?.gate, message.request?.isQuery == true)
        let kind = SessionMetrics.shared.begins(message)
        let task = lane.run { [self] in
            let context = RequestContext(message: message, session: self, member: member)
            let trace = hub.reports.trace(uuid(of: message.id), isQuery: isQuery)
            var turn: Duration?
            var answer = await RequestTrace.$current.withValue(trace) {
                if let gate {
                    await answerInTurn(context, at: gate, &turn)
                } else {
                    await hub.router.answer(context)
                }
            }
            answer.bytes = counting(answer.bytes)
            report(context, kind, trace, turn, answer)
            send { [bytes = answer.bytes] in $0.send(bytes) }
            finish(message.id)
        }
        guard gate != nil || isQuery else { return }
        // It may have been answered before this.
        state.withLock { if $0.machine.isUnderWay(message.id) { $0.cancellable[message.id] = task } }
    }

    /// The turn of the request that runs has come.
    func noteTurn() {
        if let notes = RequestTrace.current?.notes { notes.turn = hub.scheduler.now }
    }

    /// Tells the log, the metrics and the notes of the device. Before the answer is sent, so that who has the answer finds
    /// the line.
    @inline(never)
    private func report(
        _ context: RequestContext, _ kind: WireRequestKind, _ trace: RequestTrace, _ turn: Duration?,
        _ answer: RequestAnswer
    ) {
        let (message, end) = (context.message, hub.scheduler.now)
        let (time, result) = (end - message.receivedAt, result(of: message))
        if hub.reports.wantsTimes {
            hub.reports.answered(
                AnsweredRequest(
                    message: message, uuid: trace.uuid, member: context.member, result: result, turn: turn,
                    notes: trace.notes, answer: answer.bytes, end: end))
        }
        SessionMetrics.shared.answered(kind, result, after: time)
        noteAnswer(to: message, trace.uuid, answer.refusal, after: time)
    }

    /// What became of a request that has its answer.
    private func result(of message: ClientMessage) -> RequestResult {
        let failure = message.failure
        // Who leaves loses the turn. That is no refusal.
        if failure == .tooManyRequests, state.withLock({ $0.peer == nil }) { return .disconnected }
        return RequestResult(failure)
    }

    /// The answer to a request, when it is its account's turn.
    ///
    /// - Parameter turn: when that was.
    private func answerInTurn(
        _ context: RequestContext, at kind: RequestGates.Kind, _ turn: inout Duration?
    ) async -> RequestAnswer {
        let gate = hub.gates[kind]
        let ticket: WorkTicket
        do {
            let room = min(context.message.request?.answerRoom ?? 1, hub.settings.fetches.roomPerOwner)
            ticket = try await self.turn(of: context.member.owner, at: gate, room: room, for: context.id)
        } catch {
            let delay = error.retryAfter / .seconds(1)
            return hub.router.refuse(context, Refusal(.tooManyRequests, kind.refusal, retryAfter: delay))
        }
        let start = hub.scheduler.now
        turn = start
        var byteCount = context.message.valueBytes
        defer { gate.leave(ticket, charge: kind.charge(for: hub.scheduler.now - start, byteCount: byteCount)) }
        let answer = await hub.router.answer(context)
        byteCount += answer.bytes.count
        return answer
    }

    /// Waits for the owner's turn. No answer is made for a peer that is gone. An answer that is being made is
    /// finished.
    private func turn(
        of owner: WorkOwner, at gate: FairGate, room: Int = 1, for id: UInt64
    ) async throws(WorkRefusal) -> WorkTicket {
        let ticket = try await gate.enter(owner, room: room)
        let isPeerGone = state.withLock { state in
            state.cancellable[id] = nil
            return state.peer == nil
        }
        guard isPeerGone else { return ticket }
        gate.leave(ticket)
        throw WorkRefusal(.cancelled, retryAfter: .zero)
    }

    /// How many bytes of records may come with an answer that is small without them.
    var bytesBesideAnswer: Int { state.withLock { $0.machine.isPeerFull ? 0 : hub.settings.limits.answerBytesMax } }

    private func finish(_ id: UInt64) {
        perform(
            state.withLock { state in
                let actions = state.machine.finished(id)
                state.cancellable[id] = nil
                returnMemory(&state)
                return actions
            })
    }

    private func returnMemory(_ state: inout State) {
        guard state.lease.byteCount > 0 else { return }
        state.lease.shrink(to: state.machine.underWayBytes, of: state.owner, in: hub.settings.requestBudget)
    }

    /// The answer, which says how many pushes came before it if the device may not know that.
    private func counting(_ answer: consuming [UInt8]) -> [UInt8] {
        guard let owed = state.withLock({ $0.pushes.countForAnswer }), PushCount.fits(answer) else { return answer }
        PushCount.append(sent: owed, to: &answer)
        return answer
    }

    /// Cuts the connection when its credential expires, whatever it does.
    private func watchExpiry(_ member: SessionMember) {
        guard let expiry = member.identity?.credentialExpiresAt else { return }
        guard !member.isExpired(hub.now) else { return end(.notAuthenticated) }
        // The wall clock may be set: looked at again at least every hour.
        let (left, overflow) = expiry.milliseconds.subtractingReportingOverflow(hub.now.milliseconds)
        let delay = Duration.milliseconds(overflow ? 3_600_000 : min(left, 3_600_000))
        wait(for: hub.scheduler.schedule(after: delay) { [self] in watchExpiry(member) })
    }
}
