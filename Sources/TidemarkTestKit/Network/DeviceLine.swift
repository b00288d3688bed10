// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import TidemarkBytes
internal import TidemarkDomain
package import TidemarkKit
package import TidemarkScheduling
internal import TidemarkTranslation
internal import TidemarkWire

/// One device's way to its server, in memory or over a socket, and what can go wrong on it.
package final class DeviceLine: CloudTransport {
    private struct State {
        var isOnline = true
        var channels: [ObjectIdentifier: LineChannel] = [:]
        /// Whether the answer to the next change is to get lost.
        var losesAnswer = false
        var lostAnswerCount = 0
        /// Asked for each push: whether it is to get lost.
        var losesPush: (@Sendable () -> Bool)?
        /// Called for each message that arrives.
        var hears: (@Sendable () -> Void)?
        /// Asked for each push: what becomes of it.
        var pushFate: (@Sendable () -> PushFate)?
        /// On the clock of `timers`.
        var throttleEnd: Duration?
    }

    private let base: any CloudTransport
    private let timers: any Scheduler
    private let state = Mutex(State())

    /// - Parameter base: leads to the server.
    package init(over base: any CloudTransport, timers: any Scheduler) {
        self.base = base
        self.timers = timers
    }

    // MARK: Faults

    package var isOnline: Bool { state.withLock { $0.isOnline } }

    /// Offline every connection is cut, as by ``cut()``, and none begins.
    package func setOnline(_ isOnline: Bool) {
        state.withLock { $0.isOnline = isOnline }
        if !isOnline { cut() }
    }

    /// Breaks every connection. The device may connect again. When this returns, its side knows. Later requests never
    /// count as sent, so no caller has to wait for their outcome.
    package func cut() {
        let channels = state.withLock { Array($0.channels.values) }
        for channel in channels { channel.cut() }
    }

    /// The next answer to a request that changes records or zones gets lost with its connection.
    package func loseNextAnswer() {
        state.withLock { $0.losesAnswer = true }
    }

    /// How many answers got lost.
    package var lostAnswerCount: Int { state.withLock { $0.lostAnswerCount } }

    /// From now on pushes get lost, all else arrives.
    ///
    /// - Parameters:
    ///   - isLost: asked of each push.
    ///   - hears: called with each message that arrives.
    package func losePushes(_ isLost: @escaping @Sendable () -> Bool, hearing hears: @escaping @Sendable () -> Void) {
        state.withLock { ($0.losesPush, $0.hears) = (isLost, hears) }
    }

    /// The fate of a push on its way.
    package enum PushFate: Sendable {
        case arrives, isLost
        /// It comes again, after what comes next.
        case comesTwice
        /// Others overtake it.
        case comesLate(by: Duration)
    }

    /// From now on pushes get lost, come twice, or late. All else arrives, and in order.
    ///
    /// - Parameter fate: asked of each push.
    package func disturbPushes(_ fate: @escaping @Sendable () -> PushFate) {
        state.withLock { $0.pushFate = fate }
    }

    /// For so long the line answers each request itself, by `requestRateLimited`.
    package func throttle(for duration: Duration) {
        let end = timers.now + duration
        state.withLock { $0.throttleEnd = end }
    }

    /// For how many seconds more; nil: not at all.
    private var throttledSeconds: Double? {
        let left = (state.withLock { $0.throttleEnd } ?? .zero) - timers.now
        return left > .zero ? left / .seconds(1) : nil
    }

    // MARK: CloudTransport

    package func open(observer: any CloudChannelObserver) -> any CloudChannel {
        let channel = LineChannel(self, observer)
        let isOnline = state.withLock { state in
            if state.isOnline { state.channels[ObjectIdentifier(channel)] = channel }
            return state.isOnline
        }
        guard isOnline else {
            _ = timers.schedule(after: .zero) { channel.end(.network("offline")) }
            return channel
        }
        channel.connect(base)
        return channel
    }

    fileprivate func forget(_ channel: LineChannel) {
        _ = state.withLock { $0.channels.removeValue(forKey: ObjectIdentifier(channel)) }
    }

    /// The answer to a request of a throttled device, as from a server that has had too many; nil: the message passes.
    fileprivate func refusal(of message: [UInt8]) -> [UInt8]? {
        guard let seconds = throttledSeconds,
            let envelope = try? WireClientEnvelope(reading: message)
        else { return nil }
        switch envelope.request {
        case nil, .hello?: return nil
        default: return ServerMessage.failure(envelope.id, .tooManyRequests, retryAfter: seconds)
        }
    }

    /// Does it as if it came from the server: never before the caller has returned.
    fileprivate func later(by delay: Duration = .zero, _ work: @escaping @Sendable () -> Void) {
        _ = timers.schedule(after: delay, work)
    }

    fileprivate func fate(of message: [UInt8]) -> PushFate {
        guard let pushFate = state.withLock({ $0.pushFate }),
            case .push? = (try? WireServerEnvelope(reading: message))?.answer
        else { return .arrives }
        return pushFate()
    }

    /// Whether the message is a push that is to get lost.
    fileprivate func losesPush(_ message: [UInt8]) -> Bool {
        let (losesPush, hears) = state.withLock { ($0.losesPush, $0.hears) }
        guard let losesPush, let hears else { return false }
        if case .push? = (try? WireServerEnvelope(reading: message))?.answer, losesPush() { return true }
        hears()
        return false
    }

    /// Whether the message must get lost, and its connection with it.
    fileprivate func loses(_ message: [UInt8]) -> Bool {
        guard state.withLock({ $0.losesAnswer }),
            let envelope = try? WireServerEnvelope(reading: message)
        else { return false }
        switch envelope.answer {
        case .modifyRecords, .modifyZones, .modifySubscriptions, .acceptShares, .requestShareAccess: break
        default: return false
        }
        return state.withLock { state in
            defer { state.losesAnswer = false }
            state.lostAnswerCount += state.losesAnswer ? 1 : 0
            return state.losesAnswer
        }
    }
}

/// A connection of a line.
private final class LineChannel: CloudChannel, CloudChannelObserver {
    private struct State {
        var inner: (any CloudChannel)?
        /// Nil once it has been called with the end.
        var observer: (any CloudChannelObserver)?
        var isCut = false
    }

    private let line: DeviceLine
    private let state: Mutex<State>
    /// Held while the observer is called, so that a second call that ends the channel returns only after that.
    private let ending = Mutex(())

    init(_ line: DeviceLine, _ observer: any CloudChannelObserver) {
        self.line = line
        state = Mutex(State(observer: observer))
    }

    func connect(_ base: any CloudTransport) {
        let inner = base.open(observer: self)
        let isCut = state.withLock { state in
            state.inner = inner
            return state.isCut
        }
        if isCut { inner.close() }
    }

    func cut() {
        state.withLock { $0.isCut = true }
        close()
        end(.network("cut"))
    }

    func end(_ reason: ChannelClosing) {
        ending.withLock { _ in
            let (observer, isCut) = state.withLock { state in
                defer {
                    state.observer = nil
                    state.inner = nil
                }
                return (state.observer, state.isCut)
            }
            observer?.channelClosed(self, isCut ? .network("cut") : reason)
            // Not earlier: code that cuts the line waits for the channels that it knows.
            line.forget(self)
        }
    }

    // MARK: CloudChannel

    func send(_ message: [UInt8]) {
        guard let refusal = line.refusal(of: message) else {
            state.withLock { $0.isCut ? nil : $0.inner }?.send(message)
            return
        }
        line.later { [self] in pass(refusal) }
    }

    func close() { state.withLock { $0.inner }?.close() }

    // MARK: CloudChannelObserver

    func channelOpened(_ channel: any CloudChannel) {
        state.withLock { $0.isCut ? nil : $0.observer }?.channelOpened(self)
    }

    func channelReceived(_ channel: any CloudChannel, _ message: [UInt8]) {
        if line.loses(message) { return cut() }
        if line.losesPush(message) { return }
        switch line.fate(of: message) {
        case .arrives: pass(message)
        case .isLost: break
        case .comesTwice:
            pass(message)
            line.later { [self] in pass(message) }
        case .comesLate(let delay): line.later(by: delay) { [self] in pass(message) }
        }
    }

    private func pass(_ message: [UInt8]) {
        state.withLock { $0.isCut ? nil : $0.observer }?.channelReceived(self, message)
    }

    func channelProgressed(_ channel: any CloudChannel) {
        state.withLock { $0.isCut ? nil : $0.observer }?.channelProgressed(self)
    }

    func channelClosed(_ channel: any CloudChannel, _ reason: ChannelClosing) { end(reason) }
}
