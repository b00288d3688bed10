// SPDX-License-Identifier: Apache-2.0

import Synchronization

@testable import TidemarkKit

/// A real connection that is cut, or with something done to it, when so many bytes have passed.
final class CuttingTransport: CloudTransport, Sendable {
    private struct State {
        var sent = 0
        var messagesSent = 0
        var received = 0
        var channels = 0
        var isDone = false
    }

    private let bases: [any CloudTransport]
    private let isDue: @Sendable (_ sent: Int, _ received: Int) -> Bool
    private let incident: @Sendable () -> Bool
    private let state = Mutex(State())

    convenience init(
        _ base: any CloudTransport, when isDue: @escaping @Sendable (_ sent: Int, _ received: Int) -> Bool,
        incident: @escaping @Sendable () -> Bool = { true }
    ) {
        self.init([base], when: isDue, incident: incident)
    }

    /// - Parameters:
    ///   - bases: one for each connection in turn, the last for all further ones.
    ///   - isDue: asked with every message until it says so.
    ///   - incident: called once, then; returns whether the connection is cut.
    init(
        _ bases: [any CloudTransport], when isDue: @escaping @Sendable (_ sent: Int, _ received: Int) -> Bool,
        incident: @escaping @Sendable () -> Bool = { true }
    ) {
        self.bases = bases
        self.isDue = isDue
        self.incident = incident
    }

    var sent: Int { state.withLock { $0.sent } }
    var messagesSent: Int { state.withLock { $0.messagesSent } }
    var received: Int { state.withLock { $0.received } }
    var connectionCount: Int { state.withLock { $0.channels } }

    func open(observer: any CloudChannelObserver) -> any CloudChannel {
        let number = state.withLock { state in
            state.channels += 1
            return state.channels
        }
        let channel = CuttingChannel(self, observer)
        channel.connect(bases[min(number, bases.count) - 1])
        return channel
    }

    fileprivate func passed(sent: Int = 0, received: Int = 0) -> Bool {
        let isNow = state.withLock { state in
            state.sent += sent
            if sent > 0 { state.messagesSent += 1 }
            state.received += received
            guard !state.isDone, isDue(state.sent, state.received) else { return false }
            state.isDone = true
            return true
        }
        return isNow && incident()
    }
}

private final class CuttingChannel: CloudChannel, CloudChannelObserver, Sendable {
    private let transport: CuttingTransport
    private let observer: any CloudChannelObserver
    private let inner = Mutex<(any CloudChannel)?>(nil)

    init(_ transport: CuttingTransport, _ observer: any CloudChannelObserver) {
        self.transport = transport
        self.observer = observer
    }

    func connect(_ base: any CloudTransport) {
        let channel = base.open(observer: self)
        inner.withLock { $0 = channel }
    }

    func send(_ message: [UInt8]) {
        inner.withLock { $0 }?.send(message)
        if transport.passed(sent: message.count) { close() }
    }

    func close() { inner.withLock { $0 }?.close() }

    func channelOpened(_ channel: any CloudChannel) { observer.channelOpened(self) }

    func channelReceived(_ channel: any CloudChannel, _ message: [UInt8]) {
        if transport.passed(received: message.count) { return close() }
        observer.channelReceived(self, message)
    }

    func channelProgressed(_ channel: any CloudChannel) { observer.channelProgressed(self) }

    func channelClosed(_ channel: any CloudChannel, _ reason: ChannelClosing) {
        observer.channelClosed(self, reason == .local ? .network("cut") : reason)
        inner.withLock { $0 = nil }
    }
}

extension Site {
    /// A container whose connection goes through `make`'s transport.
    func makeContainer(_ make: (any CloudTransport) -> CuttingTransport) -> CKContainer {
        let configuration = configuration()
        let transport = make(SocketTransport(configuration: configuration))
        return CKContainer(
            context: CloudContext(
                containerIdentifier: container, token: configuration.token ?? "", transport: transport,
                scheduler: NetworkThread.scheduler))
    }
}
