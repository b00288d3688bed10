// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing
import TidemarkScheduling
import TidemarkTelemetry
import TidemarkTestSupport

@testable import TidemarkSockets

@Suite struct ListenerTests {
    @Test func `two loops share an address, and each connection comes to one of them`() async throws {
        try await withLoop { first in
            try await withLoop { second in
                let one = try await TestServer.start(on: first)
                let two = try await TestServer.start(on: second, at: one.listener.localAddress)
                #expect(two.listener.localAddress == one.listener.localAddress)
                for _ in 0..<64 { _ = try await TestConnection.connect(to: one.listener.localAddress, on: first) }
                let (sum, spread) = (Locked(0), Locked(0))
                try await first.eventually("all accepted") {
                    sum.update { $0 = one.connections.count }
                    second.execute { spread.update { $0 = two.connections.count } }
                    return sum.value + spread.value == 64
                }
                // By a hash of both addresses: that none of 64 comes to one of two has a chance of 2⁻⁶³.
                #expect(sum.value > 0)
                #expect(spread.value > 0)
            }
        }
    }

    @Test func `an address that is not shared is given once`() async throws {
        try await withLoop { loop in
            let options = Listener.Options(sharesAddress: false)
            let first = try await TestServer.start(on: loop, options: options)
            let taken = first.listener.localAddress
            let error = await #expect(throws: SocketError.self) {
                _ = try await TestServer.start(on: loop, at: taken, options: options)
            }
            #expect(error?.code == .addressInUse)
            // Free again once closed, in spite of connections in TIME_WAIT.
            let client = try await TestConnection.connect(to: first.listener.localAddress, on: loop)
            try await loop.eventually("accepted") { first.connections.count == 1 }
            await loop.onLoop {
                first.connections[0].close()
                first.listener.close()
                client.close()
            }
            _ = try await TestServer.start(on: loop, at: first.listener.localAddress, options: options)
        }
    }

    @Test func `a listener on all IPv6 addresses takes IPv4 when asked to`() async throws {
        try await withLoop { loop in
            let both = try await TestServer.start(on: loop, at: SocketAddress(parsing: "[::]:0"), isEcho: true)
            let port = both.listener.localAddress.port
            _ = try await TestConnection.connect(to: .loopback(port: port), on: loop)
            _ = try await TestConnection.connect(
                to: try #require(SocketAddress(numericHost: "::1", port: port)), on: loop)
            try await loop.eventually("accepted") { both.connections.count == 2 }
            #expect(await loop.onLoop { both.peers.allSatisfy(\.isLoopback) })
            let only = try await TestServer.start(
                on: loop, at: try #require(SocketAddress(numericHost: "::1", port: 0)),
                options: .init(acceptsIPv4OnIPv6: false))
            let refusing = SocketAddress.loopback(port: only.listener.localAddress.port)
            await #expect(throws: SocketError.self) {
                try await TestConnection.connect(to: refusing, on: loop)
            }
        }
    }

    @Test(arguments: [EMFILE, ENFILE, ENOMEM])
    func `when descriptors run out it pauses, turns some away, and goes on when there are some`(
        code: Int32
    ) async throws {
        try await withLoop { loop in
            let server = try await TestServer.start(on: loop)
            let attempts = Locked(0)
            let isTight = Locked(true)
            let hasFailed = Locked(false)
            await loop.onLoop {
                server.listener.accept = { fd, address in
                    attempts.update { $0 += 1 }
                    // There is one descriptor: the one that is kept in reserve. It is free after an attempt that failed, in the
                    // same turn of the loop.
                    if !isTight.value || hasFailed.value { return SystemCalls.accept(fd, &address) }
                    hasFailed.update { $0 = true }
                    loop.execute { hasFailed.update { $0 = false } }
                    return -Int(code)
                }
            }
            let clients = try await connect(5, to: server, on: loop)
            try await loop.eventually("turned away") { server.listener.refusedCount == 5 }
            try await loop.eventually("told so") { clients.allSatisfy { $0.end != nil } }
            #expect(server.connections.isEmpty)
            // It did not spin: two rounds with a pause between them, and one call for each that was turned away.
            #expect(attempts.value < 30)
            isTight.update { $0 = false }
            _ = try await connect(1, to: server, on: loop)
            try await loop.eventually("serving again") { server.connections.count == 1 }
        }
    }

    @Test func `descriptors that run out again and again are one line of the log`() async throws {
        try await withLoop { loop in
            let lines = Locked<[String]>([])
            let failures = FailureLog(now: { .zero }, write: { _, text, _ in lines.update { $0.append(text) } })
            let server = try await TestServer.start(on: loop, failures: failures)
            let attempts = Locked(0)
            await loop.onLoop {
                server.listener.accept = { fd, address in
                    attempts.update { $0 += 1 }
                    return attempts.value % 2 == 1 ? -Int(EMFILE) : SystemCalls.accept(fd, &address)
                }
            }
            for count in 1...3 {
                _ = try await connect(1, to: server, on: loop)
                try await loop.eventually("accepted") { server.connections.count == count }
            }
            #expect(attempts.value >= 6)
            #expect(lines.value == ["accepting pauses"])
        }
    }

    @Test func `a connection that has gone before it was accepted does not stop the others`() async throws {
        try await withLoop { loop in
            let server = try await TestServer.start(on: loop)
            let failures = Locked([ECONNABORTED, EPROTO, EPERM])
            await loop.onLoop {
                server.listener.accept = { fd, address in
                    var code: Int32?
                    failures.update { code = $0.popLast() }
                    return code.map { -Int($0) } ?? SystemCalls.accept(fd, &address)
                }
            }
            _ = try await connect(3, to: server, on: loop)
            try await loop.eventually("accepted") { server.connections.count == 3 }
        }
    }

    @Test func `a listener may be closed while it accepts`() async throws {
        try await withLoop { loop in
            let accepted = Locked(0)
            let listener = Locked<Listener?>(nil)
            let clients = try await loop.tryOnLoop { () throws(SocketError) -> [Socket] in
                let made = try Listener(loop: loop, address: .loopback(port: 0)) { _, _ in
                    accepted.update { $0 += 1 }
                    listener.value?.close()
                }
                listener.update { $0 = made }
                // Before the loop sees the first of them, so that all wait when that is accepted.
                return try (0..<3).map { _ throws(SocketError) in try Socket.connecting(to: made.localAddress) }
            }
            try await loop.eventually("accepted one") { accepted.value == 1 }
            await loop.onLoop {}
            #expect(accepted.value == 1)
            await loop.onLoop {
                for client in clients { client.close() }
                listener.value?.close()
            }
        }
    }

    private func connect(_ count: Int, to server: TestServer, on loop: EventLoop) async throws -> [TestConnection] {
        var clients: [TestConnection] = []
        for _ in 0..<count {
            clients.append(try await TestConnection.connect(to: server.listener.localAddress, on: loop))
        }
        return clients
    }
}
