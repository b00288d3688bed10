// SPDX-License-Identifier: Apache-2.0

internal import TidemarkWire

/// Decides what a device does about its presence in one zone: a pure value without connection, clock or task.
///
/// | state | begins with | ends with |
/// | --- | --- | --- |
/// | `idle` | nobody uses it | somebody does: it joins |
/// | `joining` | a connection, or an end that passes | the answer |
/// | `present` | the answer | the end of the connection or of the topic |
/// | `away` | no connection, or a refusal that passes | a connection, or a timer |
/// | `ended` | a refusal that stays | – |
///
/// A state is replaced and never queued: of many updates the newest is sent, at most each ``pace``. After each join the server has the
/// newest one, because the join brings it.
struct PresenceMachine {
    enum Action {
        case join(state: [UInt8])
        /// Nil: it only says that the device is still there.
        case publish(topic: UInt64, state: [UInt8]?)
        case show([WirePresenceMember])
        case deliver(WirePresenceMessage)
        case wakeUp(after: Duration)
        case fail(CKError)
    }

    private enum State: Equatable {
        case idle
        case joining
        case present(topic: UInt64)
        case away
        case ended
    }

    /// The server takes ten requests a second of a connection. The rest is for messages.
    static let pace = Duration.milliseconds(150)
    /// For how long the last members are shown without a connection. After that, the list is empty.
    static let patience = Duration.seconds(15)
    private var state = State.idle
    /// The newest state.
    private var wanted: [UInt8] = []
    /// Whether the server lacks the current state.
    private var isChanged = false
    private var isPublishing = false
    private(set) var member: UInt64 = 0
    private var members: [UInt64: WirePresenceMember] = [:]
    private var early = EarlyPushes()
    /// Whether a connection was lost during the join. The answer may then belong to that connection.
    private var isJoinOld = false
    private var failures = 0
    private var life = Duration.seconds(15)
    private var lastPublish = Duration.zero
    /// The server wants nothing before.
    private var notBefore = Duration.zero
    private var awaySince: Duration?
    /// When it looks next. Timers that come before do nothing.
    private var lookAt: Duration?

    /// The topic in which it is present; nil: it is not.
    var topic: UInt64? { if case .present(let topic) = state { topic } else { nil } }
    var isEnded: Bool { state == .ended }
    /// Whether somebody uses it.
    var isUsed: Bool { state != .idle && state != .ended }

    // MARK: What the app wants

    /// Somebody uses it.
    mutating func begin(now: Duration) -> [Action] {
        guard state == .idle else { return [] }
        awaySince = now
        return join() + look(at: now + Self.patience, now: now)
    }

    mutating func update(_ value: [UInt8], now: Duration) -> [Action] {
        guard state != .ended else { return [] }
        isChanged = isChanged || value != wanted
        wanted = value
        return state == .idle ? begin(now: now) : publishIfDue(now: now)
    }

    /// The app cannot use it.
    mutating func end() { (state, members) = (.ended, [:]) }

    // MARK: What the connection says

    /// There is a connection. It has no topics at first.
    mutating func connected(now: Duration) -> [Action] {
        switch state {
        case .idle, .ended: return []
        // The join waited for it, unless a connection was lost meanwhile.
        case .joining: return []
        case .away, .present:
            if awaySince == nil { awaySince = now }
            return join() + look(at: (awaySince ?? now) + Self.patience, now: now)
        }
    }

    mutating func disconnected(now: Duration) -> [Action] {
        switch state {
        case .present:
            state = .away
            if awaySince == nil { awaySince = now }
            return look(at: now + Self.patience, now: now)
        case .joining:
            isJoinOld = true
            return []
        case .idle, .away, .ended: return []
        }
    }

    mutating func joined(_ answer: WireJoinPresenceAnswer, now: Duration) -> [Action] {
        guard state == .joining else { return [] }
        guard !isJoinOld else { return join() }
        state = .present(topic: answer.topic)
        (failures, awaySince, member, lastPublish) = (0, nil, answer.member, now)
        life = max(.seconds(1), .milliseconds(Int64(answer.lifeMilliseconds)))
        members = Dictionary(answer.members.map { ($0.number, $0) }) { _, last in last }
        guard let pushes = early.pushes(of: answer.topic) else { return join() }
        early = EarlyPushes()
        var actions: [Action] = []
        for push in pushes where topic != nil {
            actions += take(push, now: now).filter { if case .show = $0 { false } else { true } }
        }
        guard topic != nil else { return actions }
        return actions + [.show(shown)] + publishIfDue(now: now) + look(at: now + life / 3, now: now)
    }

    mutating func joinFailed(_ error: CKError, now: Duration, randomBits: UInt64) -> [Action] {
        guard state == .joining else { return [] }
        // Cancelled: by a fresh credential. A connection with that comes, or somebody else is signed in.
        guard error.isWorthAnotherTry || error.code == .serverResponseLost || error.code == .operationCancelled
        else { return fail(error) }
        defer { failures += 1 }
        state = .away
        early = EarlyPushes()
        let wait = error.waitBeforeRetry(failures: failures, randomBits: randomBits)
        return look(at: now + min(wait, Self.patience), now: now)
    }

    /// - Parameter error: why nothing was published.
    mutating func published(_ error: CKError?, topic: UInt64, now: Duration) -> [Action] {
        isPublishing = false
        guard let error, state == .present(topic: topic) else { return publishIfDue(now: now) }
        switch error.code {
        case .requestRateLimited, .zoneBusy:
            isChanged = true
            notBefore = now + .seconds(max(0.1, min(error.retryAfterSeconds ?? 1, 5)))
            return look(at: notBefore, now: now)
        case .invalidArguments:
            // The server does not know the topic any more.
            return join()
        default:
            // Without a connection there is another one, and then a join.
            isChanged = true
            return look(at: now + .seconds(1), now: now)
        }
    }

    /// A message could not be sent because the server does not know the topic.
    mutating func lost(topic: UInt64) -> [Action] { state == .present(topic: topic) ? join() : [] }

    mutating func pushed(_ push: WirePresencePush, now: Duration) -> [Action] {
        switch state {
        case .present(let topic): return push.topic == topic ? take(push, now: now) : []
        case .joining:
            early.add(push)
            return []
        case .idle, .away, .ended: return []
        }
    }

    /// A timer has fired.
    mutating func wokeUp(now: Duration) -> [Action] {
        guard let at = lookAt, at <= now, state != .ended, state != .idle else { return [] }
        lookAt = nil
        var actions: [Action] = []
        if let since = awaySince, since + Self.patience <= now, !members.isEmpty {
            members = [:]
            actions.append(.show([]))
        }
        switch state {
        case .away: return actions + join() + look(at: now + Self.patience, now: now)
        case .present:
            // An answer, or what the server wants to be waited for, may take longer. No timer of no time waits for either.
            let next = isPublishing ? now : lastPublish
            return actions + publishIfDue(now: now) + look(at: max(next + life / 3, notBefore), now: now)
        case .joining: return actions + look(at: now + Self.patience, now: now)
        case .idle, .ended: return actions
        }
    }

    // MARK: Deciding

    private var shown: [WirePresenceMember] { members.values.sorted { $0.number < $1.number } }

    private mutating func join() -> [Action] {
        (state, isJoinOld, isChanged, early) = (.joining, false, false, EarlyPushes())
        return [.join(state: wanted)]
    }

    private mutating func fail(_ error: CKError) -> [Action] {
        end()
        return [.fail(error)]
    }

    private mutating func publishIfDue(now: Duration) -> [Action] {
        guard let topic, !isPublishing else { return [] }
        let isSilent = now - lastPublish >= life / 3
        guard isChanged || isSilent else { return [] }
        let dueAt = max(lastPublish + Self.pace, notBefore)
        guard now >= dueAt else { return look(at: dueAt, now: now) }
        let value = isChanged ? wanted : nil
        (isPublishing, isChanged, lastPublish) = (true, false, now)
        return [.publish(topic: topic, state: value)] + look(at: now + life / 3, now: now)
    }

    private mutating func take(_ push: WirePresencePush, now: Duration) -> [Action] {
        if push.hasEnd {
            let error = CKError(push.end, to: nil)
            guard error.isWorthAnotherTry else { return fail(error) }
            state = .away
            if awaySince == nil { awaySince = now }
            return look(at: now + error.waitBeforeRetry(failures: 0, randomBits: 0), now: now)
        }
        let before = members
        if push.isWhole { members = [:] }
        for member in push.members { members[member.number] = member }
        for number in push.gone { members[number] = nil }
        let messages = push.messages.filter { $0.member != member }.map { Action.deliver($0) }
        return (members == before ? [] : [.show(shown)]) + messages
    }

    /// Looks again at that time, if it does not look before.
    private mutating func look(at time: Duration, now: Duration) -> [Action] {
        let time = max(time, now)
        if let at = lookAt, at <= time, at >= now { return [] }
        lookAt = time
        return [.wakeUp(after: time - now)]
    }
}
