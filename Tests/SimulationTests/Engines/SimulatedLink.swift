// SPDX-License-Identifier: Apache-2.0

import TidemarkKit
import TidemarkScheduling
import TidemarkSessions
import TidemarkTestKit

/// A connection in memory between an engine and a server's session: messages arrive in order and after a while, or not
/// at all once it is cut.
final class SimulatedLink: @unchecked Sendable {
    let world: SimulatedWorld
    private var observer: (any CloudChannelObserver)?
    private var session: Session?
    private(set) var isClosed = false
    /// When the last message of each direction arrives: the next one comes later.
    private var arrivalAtServer: Duration = .zero
    private var arrivalAtClient: Duration = .zero
    private var isReadingPaused = false
    /// What came while the session did not read.
    private var unread: [[UInt8]] = []
    fileprivate(set) var queuedByteCount = 0
    private weak var client: ClientEnd?

    private init(_ world: SimulatedWorld, observer: any CloudChannelObserver) {
        self.world = world
        self.observer = observer
    }

    /// Begins to connect to a server, or to nothing.
    static func open(
        to server: SimulatedServer?, in world: SimulatedWorld, observer: any CloudChannelObserver
    ) -> (SimulatedLink, any CloudChannel) {
        let link = SimulatedLink(world, observer: observer)
        let client = ClientEnd(link)
        link.client = client
        link.after(world.delay(), \.arrivalAtClient) { link.connect(to: server, client) }
        return (link, client)
    }

    private func connect(to server: SimulatedServer?, _ client: ClientEnd) {
        guard let hub = server?.hub, !isClosed else { return cut() }
        server?.keep(self)
        session = hub.makeSession(peer: ServerEnd(self))
        observer?.channelOpened(client)
    }

    /// The network breaks: what is under way is lost, and each end learns of it in its own time.
    func cut() {
        if !isClosed { world.note("a connection breaks") }
        end(.network("cut"))
    }

    fileprivate func end(_ reason: ChannelClosing) {
        guard !isClosed else { return }
        isClosed = true
        let (session, observer, client) = (session, observer, client)
        self.session = nil
        self.observer = nil
        _ = world.scheduler.schedule(after: world.shortDelay()) { session?.closed() }
        _ = world.scheduler.schedule(after: reason == .local ? .zero : world.shortDelay()) {
            if let client { observer?.channelClosed(client, reason) }
        }
    }

    fileprivate func sendToServer(_ message: [UInt8]) {
        after(world.shortDelay(), \.arrivalAtServer) { [self] in
            arrive { if isReadingPaused { unread.append(message) } else { session?.received(message) } }
        }
    }

    fileprivate func sendToClient(_ message: [UInt8]) {
        queuedByteCount += message.count
        after(world.shortDelay(), \.arrivalAtClient) { [self] in
            queuedByteCount -= message.count
            arrive {
                guard let client else { return }
                observer?.channelReceived(client, message)
                session?.drained()
            }
        }
    }

    /// Hands a message over, or loses it, or breaks right after it.
    private func arrive(_ handOver: () -> Void) {
        guard !isClosed else { return }
        let (isLost, isLast) = (world.breaksConnection(), world.breaksConnection())
        if !isLost { handOver() }
        if isLost || isLast { cut() }
    }

    fileprivate func closeFromServer(code: UInt16, reason: String) {
        after(.zero, \.arrivalAtClient) { [self] in end(.server(code: code, reason: reason)) }
    }

    fileprivate func pauseReading() { isReadingPaused = true }

    fileprivate func resumeReading() {
        isReadingPaused = false
        let messages = unread
        unread = []
        for message in messages { session?.received(message) }
    }

    private func after(
        _ delay: Duration, _ arrival: ReferenceWritableKeyPath<SimulatedLink, Duration>,
        _ work: @escaping @Sendable () -> Void
    ) {
        let now = world.scheduler.now
        self[keyPath: arrival] = max(self[keyPath: arrival] + .nanoseconds(1), now + delay)
        _ = world.scheduler.schedule(after: self[keyPath: arrival] - now, work)
    }
}

/// The engine's end of a link; whoever lets go of it has closed it.
private final class ClientEnd: CloudChannel, @unchecked Sendable {
    private let link: SimulatedLink

    init(_ link: SimulatedLink) {
        self.link = link
    }

    func send(_ message: [UInt8]) { link.sendToServer(message) }
    func close() { link.end(.local) }
}

/// The server's end of a link.
private final class ServerEnd: SessionPeer, @unchecked Sendable {
    private let link: SimulatedLink

    init(_ link: SimulatedLink) {
        self.link = link
    }

    func send(_ message: [UInt8]) { link.sendToClient(message) }
    var queuedByteCount: Int { link.queuedByteCount }
    func pauseReading() { link.pauseReading() }
    func resumeReading() { link.resumeReading() }
    func close(code: UInt16, reason: String) { link.closeFromServer(code: code, reason: reason) }
}
