// SPDX-License-Identifier: Apache-2.0

public import Foundation
internal import Synchronization
internal import TidemarkScheduling
internal import TidemarkWire

/// A device's presence in a zone: who else has it open, and short messages between them. CloudKit has no such type.
///
/// ```swift
/// let presence = database.presence(in: zoneID)
/// try presence.update(Data("page 3".utf8))
/// for try await members in presence.members { show(members) }
/// ```
///
/// The device is present while somebody reads ``members`` or ``messages``, or keeps this object. After a lost connection it joins again by
/// itself, with its newest state, and so it does with a fresh credential of the same account. If somebody else signs in, or the
/// user signs out, it ends.
public final class TidemarkPresence: Sendable {
    private struct State {
        var machine = PresenceMachine()
        var shown: [TidemarkPresenceMember]?
        var failure: CKError?
        var memberWatchers: [Int: AsyncThrowingStream<[TidemarkPresenceMember], any Error>.Continuation] = [:]
        var messageWatchers: [Int: AsyncThrowingStream<TidemarkPresenceMessage, any Error>.Continuation] = [:]
        var lastWatcher = 0
        var isObserving = false
        /// Its requests fail once there is another credential.
        var cloud: CloudDatabase
        /// Whose presence it is, once a server has said it: the user record's name.
        var user: String?
        /// Actions are carried out one after the other, outside the lock.
        var actions: [PresenceMachine.Action] = []
        var isPerforming = false
    }

    /// Messages that wait for a slow reader. Older ones are dropped.
    private static let messagesMax = 256
    /// The server's limit, so that a mistake fails at once.
    private static let bytesMax = 1_024

    private let context: CloudContext
    private let connection: CloudConnection
    private let zoneID: CKRecordZone.ID
    private let key: PresenceRegistry.Key
    private let observer = PresenceObserver()
    private let state: Mutex<State>

    init(context: CloudContext, _ key: PresenceRegistry.Key, zoneID: CKRecordZone.ID) {
        self.context = context
        let cloud = context.database(key.scope)
        connection = cloud.connection
        state = Mutex(State(cloud: cloud))
        self.zoneID = zoneID
        self.key = key
        observer.owner.withLock { $0.object = self }
    }

    deinit {
        connection.stopObserving(observer)
        guard let topic = state.withLock({ $0.machine.topic }) else { return }
        context.engineScheduler.run { [context, key] in await Self.leave(topic, of: key, context) }
    }

    /// The object is gone. If the message is lost, the server notices within seconds.
    private static func leave(_ topic: UInt64, of key: PresenceRegistry.Key, _ context: CloudContext) async {
        // The connection has one member in the zone. If another object has taken its place, that member belongs to the
        // other one.
        guard !context.presences.isInUse(key) else { return }
        try? await context.database(key.scope).leavePresence(topic: topic)
    }

    private var cloud: CloudDatabase { state.withLock { $0.cloud } }

    var isUsed: Bool { state.withLock { $0.machine.isUsed } }
    var isEnded: Bool { state.withLock { $0.machine.isEnded } }

    // MARK: For apps

    /// All who are there, with this device: now, and each time it has changed.
    ///
    /// A slow reader gets the newest value, and none of those in between. Without a connection the last value stays for 15 seconds, and
    /// then nobody is there. The sequence throws a `CKError` if the zone can no longer be seen, or `limitExceeded` if there is no room.
    public var members: AsyncThrowingStream<[TidemarkPresenceMember], any Error> {
        let (stream, continuation) = AsyncThrowingStream.makeStream(
            of: [TidemarkPresenceMember].self, throwing: (any Error).self, bufferingPolicy: .bufferingNewest(1))
        let (number, failure) = state.withLock { state in
            state.lastWatcher += 1
            if state.failure == nil {
                state.memberWatchers[state.lastWatcher] = continuation
                // NB: under the lock, as in `show`. Outside, an older list could come after a newer one, and be the last.
                if let shown = state.shown { continuation.yield(shown) }
            }
            return (state.lastWatcher, state.failure)
        }
        if let failure { continuation.finish(throwing: failure) }
        // NB: it keeps the presence alive for as long as somebody reads.
        continuation.onTermination = { [self] _ in
            state.withLock { _ = $0.memberWatchers.removeValue(forKey: number) }
        }
        begin()
        return stream
    }

    /// Messages of others that come from now on. The last 256 wait for a slow reader. It throws as ``members`` does.
    public var messages: AsyncThrowingStream<TidemarkPresenceMessage, any Error> {
        let (stream, continuation) = AsyncThrowingStream.makeStream(
            of: TidemarkPresenceMessage.self, throwing: (any Error).self,
            bufferingPolicy: .bufferingNewest(Self.messagesMax))
        let (number, failure) = state.withLock { state in
            state.lastWatcher += 1
            if state.failure == nil { state.messageWatchers[state.lastWatcher] = continuation }
            return (state.lastWatcher, state.failure)
        }
        if let failure { continuation.finish(throwing: failure) }
        continuation.onTermination = { [self] _ in
            state.withLock { _ = $0.messageWatchers.removeValue(forKey: number) }
        }
        begin()
        return stream
    }

    /// Replaces this device's state, which the others see within a moment. Of many updates, the others see the newest.
    ///
    /// - Throws: `CKError`: `limitExceeded` for more than 1,024 bytes; why the presence has ended.
    public func update(_ value: Data) throws {
        try check(value)
        observe()
        step { $0.update([UInt8](value), now: $1) }
    }

    /// Sends a message to those who are there now. Nobody else ever gets it, and nobody says who has.
    ///
    /// - Throws: `CKError`: `limitExceeded` for more than 1,024 bytes, or `zoneBusy` with a time for too many messages.
    ///   `networkUnavailable` if this device is not present just now.
    public func send(_ message: Data) async throws {
        try check(message)
        begin()
        guard let topic = state.withLock({ $0.machine.topic }) else {
            throw Self.notPresent
        }
        let cloud = cloud
        do throws(CKError) {
            try await cloud.publishPresence(topic: topic, state: nil, message: [UInt8](message))
        } catch {
            guard Self.isInForce(cloud) else { throw Self.notPresent }
            guard error.code == .invalidArguments else { throw error }
            step { machine, _ in machine.lost(topic: topic) }
            throw Self.notPresent
        }
    }

    private static let notPresent = CKError(
        .networkUnavailable, text: "This device is not present in the zone just now. Send the message again later.")

    private func check(_ value: Data) throws {
        if let failure = state.withLock({ $0.failure }) { throw failure }
        guard value.count <= Self.bytesMax else {
            throw CKError(
                .limitExceeded,
                text: "A state or message has \(value.count) bytes, and at most \(Self.bytesMax) are allowed.")
        }
    }

    // MARK: Driving the machine

    private func begin() {
        observe()
        step { $0.begin(now: $1) }
    }

    private func observe() {
        let isFirst = state.withLock { state in
            defer { state.isObserving = true }
            return !state.isObserving
        }
        guard isFirst else { return }
        if let absence = context.absence { return end(CKError.noAccount(absence)) }
        context.observeCredential(observer)
        connection.observe(observer)
    }

    /// what an app wanted for one user is done for nobody else. A fresh credential is for the same one.
    fileprivate func connected(_ user: String, generation: Int) {
        let cloud = context.database(key.scope, generation: generation)
        let isSame = state.withLock { state -> Bool? in
            let last = state.cloud.credentialGeneration
            // It came before the presence was made.
            guard generation >= last else { return nil }
            // With another credential than at the beginning it must be known who it was.
            guard user == state.user || state.user == nil && generation == last else { return false }
            (state.user, state.cloud) = (user, cloud)
            return true
        }
        guard let isSame else { return }
        guard isSame else { return end(.otherAccount) }
        step { $0.connected(now: $1) }
    }

    fileprivate func credentialChanged() {
        if let absence = context.absence { end(CKError.noAccount(absence)) }
    }

    fileprivate func disconnected() { step { $0.disconnected(now: $1) } }
    fileprivate func pushed(_ push: WirePresencePush) { step { $0.pushed(push, now: $1) } }

    private func step(_ event: (inout PresenceMachine, Duration) -> [PresenceMachine.Action]) {
        let performs = state.withLock { state in
            state.actions += event(&state.machine, connection.now)
            defer { state.isPerforming = true }
            return !state.isPerforming
        }
        guard performs else { return }
        while let action = next() { perform(action) }
    }

    private func next() -> PresenceMachine.Action? {
        state.withLock { state in
            guard !state.actions.isEmpty else {
                state.isPerforming = false
                return nil
            }
            return state.actions.removeFirst()
        }
    }

    private func perform(_ action: PresenceMachine.Action) {
        switch action {
        case .join(let value):
            context.engineScheduler.run { [weak self, context, cloud, zoneID, key] in
                do throws(CKError) {
                    let answer = try await cloud.joinPresence(in: zoneID, share: key.share, state: value)
                    // It may have been let go of meanwhile.
                    guard let self else { return await Self.leave(answer.topic, of: key, context) }
                    joined(answer, by: cloud)
                } catch {
                    // The error of a request for a credential that another one has replaced says nothing of the zone.
                    let error = Self.isInForce(cloud) ? error : CKError(.operationCancelled)
                    self?.step { $0.joinFailed(error, now: $1, randomBits: cloud.connection.randomBits) }
                }
            }
        case .publish(let topic, let value):
            context.engineScheduler.run { [weak self, cloud] in
                do throws(CKError) {
                    try await cloud.publishPresence(topic: topic, state: value, message: nil)
                    self?.step { $0.published(nil, topic: topic, now: $1) }
                } catch {
                    self?.step { $0.published(error, topic: topic, now: $1) }
                }
            }
        case .wakeUp(let delay):
            context.engineScheduler.run { [weak self, cloud] in
                try? await cloud.connection.wait(delay)
                self?.step { $0.wokeUp(now: $1) }
            }
        case .show(let members): show(members)
        case .deliver(let message): deliver(message)
        case .fail(let error): end(error)
        }
    }

    /// Whether its credential is the one of the connection.
    private static func isInForce(_ cloud: CloudDatabase) -> Bool {
        cloud.credentialGeneration == cloud.connection.credentialGeneration
    }

    private func joined(_ answer: WireJoinPresenceAnswer, by cloud: CloudDatabase) {
        // The connection may have been open before it was observed.
        let user = cloud.connection.userRecordName
        if Self.isInForce(cloud) { state.withLock { $0.user = $0.user ?? user } }
        step { $0.joined(answer, now: $1) }
    }

    private func show(_ wire: [WirePresenceMember]) {
        state.withLock { state in
            let own = state.machine.member
            let members = wire.map {
                TidemarkPresenceMember(
                    id: $0.number, userRecordName: $0.user, state: Data($0.state), isThisDevice: $0.number == own)
            }
            state.shown = members
            for watcher in state.memberWatchers.values { watcher.yield(members) }
        }
    }

    private func deliver(_ wire: WirePresenceMessage) {
        let message = TidemarkPresenceMessage(
            memberID: wire.member, userRecordName: wire.user, content: Data(wire.content))
        for watcher in state.withLock({ Array($0.messageWatchers.values) }) { watcher.yield(message) }
    }

    private func end(_ error: CKError) {
        let (members, messages) = state.withLock { state in
            state.machine.end()
            state.failure = state.failure ?? error
            defer { (state.memberWatchers, state.messageWatchers) = ([:], [:]) }
            return (Array(state.memberWatchers.values), Array(state.messageWatchers.values))
        }
        connection.stopObserving(observer)
        for watcher in members { watcher.finish(throwing: error) }
        for watcher in messages { watcher.finish(throwing: error) }
    }
}

/// Hears the connection for a presence, which it does not keep alive.
private final class PresenceObserver: CloudConnectionObserver, CredentialObserver {
    struct Weak {
        weak var object: TidemarkPresence?
    }

    let owner = Mutex(Weak())

    private var object: TidemarkPresence? { owner.withLock { $0.object } }

    func connected(userRecordName: String, generation: Int) {
        object?.connected(userRecordName, generation: generation)
    }
    func credentialChanged() { object?.credentialChanged() }
    func disconnected() { object?.disconnected() }
    func presence(_ push: WirePresencePush) { object?.pushed(push) }
    func pushed(_ push: WirePush, generation: Int) {}
    func refused(_ code: CKError.Code) {}
    func deviceReplaced(by device: [UInt8]) {}
    func missedPushes() {}
}
