// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
package import TidemarkKit
internal import TidemarkScheduling
package import TidemarkSessions

/// A connection in memory between a client and a server's session. Messages arrive in order, when the network says, or
/// not at all once it is cut.
package final class MemoryLink: Sendable {
    private struct State {
        var observer: (any CloudChannelObserver)?
        var session: Session?
        var isClosed = false
        /// When the last message of each direction arrives. The next one comes later.
        var arrivalAtServer: Duration = .zero
        var arrivalAtClient: Duration = .zero
        var isReadingPaused = false
        /// Messages that arrived while the session did not read.
        var unread: [[UInt8]] = []
        var queuedByteCount = 0
        weak var client: ClientEnd?
    }

    private let network: any MemoryNetwork
    private let state: Mutex<State>

    private init(over network: any MemoryNetwork, observer: any CloudChannelObserver) {
        self.network = network
        state = Mutex(State(observer: observer))
    }

    /// Begins to connect.
    ///
    /// - Parameter hub: called when the connection is made: returns the server, or nil if there is none.
    package static func open(
        over network: any MemoryNetwork, observer: any CloudChannelObserver,
        to hub: @escaping @Sendable (MemoryLink) -> SessionHub?
    ) -> (link: MemoryLink, channel: any CloudChannel) {
        let link = MemoryLink(over: network, observer: observer)
        let client = ClientEnd(link)
        link.state.withLock { $0.client = client }
        link.after(network.connectDelay(), \.arrivalAtClient) { link.connect(to: hub, client) }
        return (link, client)
    }

    package var isClosed: Bool { state.withLock { $0.isClosed } }

    private func connect(to hub: (MemoryLink) -> SessionHub?, _ client: ClientEnd) {
        guard !isClosed, let hub = hub(self) else { return cut() }
        let session = hub.makeSession(peer: ServerEnd(self))
        let observer = state.withLock { state in
            state.session = state.isClosed ? nil : session
            return state.observer
        }
        guard let observer else { return session.closed() }
        observer.channelOpened(client)
    }

    /// The network breaks: messages under way are lost, and each end learns of it in its own time.
    package func cut() {
        if !isClosed { network.connectionCut() }
        end(.network("cut"))
    }

    fileprivate func end(_ reason: ChannelClosing) {
        let ends = state.withLock { state -> (Session?, (any CloudChannelObserver)?, ClientEnd?)? in
            guard !state.isClosed else { return nil }
            state.isClosed = true
            defer {
                state.session = nil
                state.observer = nil
            }
            return (state.session, state.observer, state.client)
        }
        guard let (session, observer, client) = ends else { return }
        _ = network.timers.schedule(after: network.messageDelay()) { session?.closed() }
        _ = network.timers.schedule(after: reason == .local ? .zero : network.messageDelay()) {
            if let client { observer?.channelClosed(client, reason) }
        }
    }

    // MARK: Messages

    fileprivate func sendToServer(_ message: [UInt8]) {
        after(network.messageDelay(), \.arrivalAtServer) { [self] in
            arrive {
                let session = state.withLock { state in
                    if state.isReadingPaused { state.unread.append(message) }
                    return state.isReadingPaused ? nil : state.session
                }
                session?.received(message)
            }
        }
    }

    fileprivate func sendToClient(_ message: [UInt8]) {
        state.withLock { $0.queuedByteCount += message.count }
        after(network.messageDelay(), \.arrivalAtClient) { [self] in
            state.withLock { $0.queuedByteCount -= message.count }
            arrive {
                let (client, observer, session) = state.withLock { ($0.client, $0.observer, $0.session) }
                guard let client else { return }
                observer?.channelReceived(client, message)
                session?.drained()
            }
        }
    }

    /// Delivers a message, or loses it, or breaks right after it.
    private func arrive(_ handOver: () -> Void) {
        guard !isClosed else { return }
        let (isLost, isLast) = (network.breaksConnection(), network.breaksConnection())
        if !isLost { handOver() }
        if isLost || isLast { cut() }
    }

    fileprivate func closeFromServer(code: UInt16, reason: String) {
        after(.zero, \.arrivalAtClient) { [self] in end(.server(code: code, reason: reason)) }
    }

    private func after(
        _ delay: Duration, _ arrival: any WritableKeyPath<State, Duration> & Sendable,
        _ work: @escaping @Sendable () -> Void
    ) {
        let now = network.timers.now
        let due = state.withLock { state in
            state[keyPath: arrival] = max(state[keyPath: arrival] + network.spacing, now + delay)
            return state[keyPath: arrival]
        }
        _ = network.timers.schedule(after: due - now, work)
    }

    // MARK: For the session

    fileprivate var queuedByteCount: Int { state.withLock { $0.queuedByteCount } }

    fileprivate func pauseReading() { state.withLock { $0.isReadingPaused = true } }

    fileprivate func resumeReading() {
        let (session, messages) = state.withLock { state in
            defer {
                state.isReadingPaused = false
                state.unread = []
            }
            return (state.session, state.unread)
        }
        for message in messages { session?.received(message) }
    }
}

/// The client's end of a link. Releasing it closes the link.
private final class ClientEnd: CloudChannel {
    private let link: MemoryLink

    init(_ link: MemoryLink) {
        self.link = link
    }

    func send(_ message: [UInt8]) { link.sendToServer(message) }
    func close() { link.end(.local) }
}

/// The server's end of a link.
private final class ServerEnd: SessionPeer {
    private let link: MemoryLink

    init(_ link: MemoryLink) {
        self.link = link
    }

    func send(_ message: [UInt8]) { link.sendToClient(message) }
    var queuedByteCount: Int { link.queuedByteCount }
    func pauseReading() { link.pauseReading() }
    func resumeReading() { link.resumeReading() }
    func close(code: UInt16, reason: String) { link.closeFromServer(code: code, reason: reason) }
}
