// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing
import TidemarkScheduling
import TidemarkTestSupport

@testable import TidemarkSockets

@Suite struct SocketTests {
    @Test(arguments: [SocketAddress.loopback(port: 0), SocketAddress(numericHost: "::1", port: 0)!])
    func `what is sent comes back, also when the kernel takes it in parts`(address: SocketAddress) async throws {
        try await withLoop { loop in
            let server = try await TestServer.start(on: loop, at: address, isEcho: true)
            let client = try await TestConnection.connect(to: server.listener.localAddress, on: loop)
            // A prime number of bytes a turn, so that a piece in the wrong place shows.
            let payload = [[UInt8]](repeating: (0..<9_973).map { UInt8(truncatingIfNeeded: $0 &* 7) }, count: 800)
                .flatMap { $0 }
            await loop.onLoop {
                client.send(payload)
                #expect(client.unsentCount > 0)
            }
            try await loop.eventually("everything came back") { client.receivedCount == payload.count }
            #expect(await loop.onLoop { client.received } == payload)
            await loop.onLoop { client.socket.shutdownSending() }
            try await loop.eventually("the server sees the end") { server.connections[0].end == .closed }
        }
    }

    @Test func `addresses and options of a connection`() async throws {
        try await withLoop { loop in
            let server = try await TestServer.start(on: loop)
            let client = try await TestConnection.connect(to: server.listener.localAddress, on: loop)
            try await loop.eventually("accepted") { server.connections.count == 1 }
            try await loop.tryOnLoop { () throws(SocketError) in
                #expect(client.socket.peerAddress == server.listener.localAddress)
                #expect(client.socket.localAddress == server.peers[0])
                #expect(client.socket.localAddress == server.connections[0].socket.peerAddress)
                let fd = client.socket.descriptor.rawValue
                try client.socket.setNoDelay()
                #expect(try SystemCalls.option(fd, Int32(IPPROTO_TCP), TCP_NODELAY) != 0)
                #expect(fcntl(fd, F_GETFD) & FD_CLOEXEC != 0)
            }
        }
    }

    @Test func `a port where nobody listens refuses`() async throws {
        try await withLoop { loop in
            let server = try await TestServer.start(on: loop)
            let address = server.listener.localAddress
            await loop.onLoop { server.listener.close() }
            let error = await #expect(throws: SocketError.self) {
                try await TestConnection.connect(to: address, on: loop)
            }
            #expect(error?.code == .connectionRefused)
        }
    }

    @Test func `sending to a peer that has gone is an error, and no signal`() async throws {
        try await withLoop { loop in
            let server = try await TestServer.start(on: loop)
            let client = try await TestConnection.connect(to: server.listener.localAddress, on: loop)
            try await loop.eventually("accepted") { server.connections.count == 1 }
            await loop.onLoop {
                client.registration.update([])
                let peer = server.connections[0]
                peer.socket.discardOnClose()
                peer.close()
            }
            try await loop.eventually("the reset arrives") {
                guard case .failed(let error) = [1].withUnsafeBytes({ client.socket.send($0) }) else { return false }
                #expect(error.code == .connectionReset)
                return true
            }
        }
    }

    @Test func `receiving after a reset says so`() async throws {
        try await withLoop { loop in
            let server = try await TestServer.start(on: loop)
            let client = try await TestConnection.connect(to: server.listener.localAddress, on: loop)
            try await loop.eventually("accepted") { server.connections.count == 1 }
            await loop.onLoop {
                server.connections[0].socket.discardOnClose()
                server.connections[0].close()
            }
            try await loop.eventually("ended") { client.end != nil }
            guard case .failed(let error) = await loop.onLoop({ client.end }) else {
                Issue.record("no error")
                return
            }
            #expect(error.code == .connectionReset)
        }
    }

    @Test func `Unix sockets carry bytes too`() async throws {
        try await withLoop { loop in
            let path = "/tmp/tidemark-\(getpid())-\(loop.randomBits() % 1_000_000_007).sock"
            defer { unlink(path) }
            let server = try await TestServer.start(on: loop, at: .unix(path), isEcho: true)
            #expect(server.listener.localAddress == (try .unix(path)))
            let client = try await TestConnection.connect(to: .unix(path), on: loop)
            await loop.onLoop { client.send([1, 2, 3]) }
            try await loop.eventually("echo") { client.received == [1, 2, 3] }
        }
    }

    @Test func `a descriptor is closed once, by whoever is first`() throws {
        let number = dup(0)
        let descriptor = FileDescriptor(owning: number)
        descriptor.close()
        #expect(descriptor.rawValue == -1)
        // The number belongs to somebody else by now.
        #expect(dup2(0, number) == number)
        descriptor.close()
        #expect(fcntl(number, F_GETFD) >= 0)
        Glibc.close(number)
    }
}
