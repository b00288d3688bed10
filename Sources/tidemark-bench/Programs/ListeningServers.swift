// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Synchronization
internal import TidemarkSockets
internal import TidemarkStore

/// As good as servers that only listen: what a post costs depends on how many hear it. The main thread uses it.
final class ListeningServers {
    private let loop: EventLoop
    private var listeners: [NoticeListener] = []

    private static let patience = DispatchTimeInterval.seconds(60)

    /// Connections to the database that listen as those of servers do, and that servers take for such.
    static func onDatabase(_ bench: Bench, count: Int) throws -> ListeningServers {
        let url = try bench.database().url
        let servers = try ListeningServers()
        try servers.begin(count) { begun in
            for _ in 0..<count {
                servers.listeners.append(
                    try NoticeListener(
                        url: url, loop: servers.loop, server: "", onNotices: { _ in }, onListening: { begun() }))
            }
        }
        return servers
    }

    /// Clients of NATS that follow all databases.
    static func onNATS(port: UInt16, count: Int) throws -> ListeningServers {
        let servers = try ListeningServers()
        let loop = servers.loop
        try servers.begin(count) { begun in
            loop.execute {
                for _ in 0..<count { NATSEar.begin(on: loop, port: port, onListening: begun) }
            }
        }
        return servers
    }

    private init() throws {
        loop = try EventLoop(name: "listeners")
    }

    func stop() {
        for listener in listeners { listener.stop() }
        loop.stop()
    }

    /// Returns when all of them listen.
    private func begin(_ count: Int, _ start: (_ begun: @escaping @Sendable () -> Void) throws -> Void) throws {
        let begunCount = Mutex(0)
        let signal = DispatchSemaphore(value: 0)
        do {
            try start {
                let isLast = begunCount.withLock { begunCount in
                    begunCount += 1
                    return begunCount == count
                }
                if isLast { signal.signal() }
            }
            guard count == 0 || signal.wait(timeout: .now() + Self.patience) == .success else {
                throw BenchError("Listeners do not begin to listen.")
            }
        } catch {
            stop()
            throw error
        }
    }
}

/// A client of NATS that hears everything and does nothing with it. Loop-confined.
private final class NATSEar: EventHandler {
    private let loop: EventLoop
    private let socket: Socket
    private let onListening: @Sendable () -> Void
    private var registration: Registration?
    private var isConnected = false
    private var isListening = false

    /// If it cannot connect, it never listens.
    static func begin(on loop: EventLoop, port: UInt16, onListening: @escaping @Sendable () -> Void) {
        guard let address = SocketAddress(numericHost: "127.0.0.1", port: port),
            let socket = try? Socket.connecting(to: address)
        else { return }
        let ear = NATSEar(loop, socket, onListening)
        // The loop keeps it.
        ear.registration = try? loop.register(socket.descriptor, interest: .writable, handler: ear)
    }

    private init(_ loop: EventLoop, _ socket: Socket, _ onListening: @escaping @Sendable () -> Void) {
        self.loop = loop
        self.socket = socket
        self.onListening = onListening
    }

    func ready(_ readiness: Readiness) {
        guard isConnected else { return greet() }
        guard readiness.isToReceive else { return }
        switch socket.receive(into: loop.receiveScratch) {
        case .bytes(let count):
            take(String(decoding: UnsafeRawBufferPointer(rebasing: loop.receiveScratch[..<count]), as: UTF8.self))
        case .wouldBlock: break
        case .closed, .failed: end()
        }
    }

    /// The answer to its PING says that the subscription holds.
    private func greet() {
        guard (try? socket.finishConnecting()) != nil else { return end() }
        isConnected = true
        registration?.update(.readable)
        say("CONNECT {\"verbose\":false,\"pedantic\":false}\r\nSUB tidemark.z.* 1\r\nPING\r\n")
    }

    private func take(_ text: String) {
        if !isListening, text.contains("PONG") {
            isListening = true
            onListening()
        }
        // NB: one that is split is not seen. A server of NATS asks several times, minutes apart.
        if text.contains("PING") { say("PONG\r\n") }
    }

    /// So little always fits into the kernel's buffer.
    private func say(_ text: String) {
        var text = text
        text.withUTF8 { _ = socket.send(UnsafeRawBufferPointer($0)) }
    }

    private func end() {
        registration?.cancel()
        registration = nil
        socket.close()
    }
}
