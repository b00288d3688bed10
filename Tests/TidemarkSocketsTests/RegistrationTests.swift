// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing

@testable import TidemarkSockets

@Suite struct RegistrationTests {
    @Test func `a handler is not called once cancelled, even for events already fetched`() async throws {
        try await withLoop { loop in
            let pairs = try (0..<2).map { _ in try SocketPair() }
            let handlers = try await loop.tryOnLoop { () throws(SocketError) in
                let first = try TestConnection(pairs[0].near, on: loop)
                let second = try TestConnection(pairs[1].near, on: loop)
                // Whichever is called first cancels both; the other's event is in the same batch.
                for connection in [first, second] {
                    connection.onReady = {
                        first.registration.cancel()
                        second.registration.cancel()
                    }
                }
                for pair in pairs { pair.poke() }
                return [first, second]
            }
            try await loop.eventually("one was called") { handlers.contains { !$0.readinesses.isEmpty } }
            await loop.onLoop {}
            #expect(await loop.onLoop { handlers.map(\.readinesses.count).reduce(0, +) } == 1)
        }
    }

    @Test func `an event of a cancelled registration does not reach the one that took its place`() async throws {
        try await withLoop { loop in
            let pairs = try (0..<3).map { _ in try SocketPair() }
            let (newcomer, first) = try await loop.tryOnLoop { () throws(SocketError) in
                let newcomer = Locked<TestConnection?>(nil)
                let connections = try [0, 1].map { (index) throws(SocketError) in
                    try TestConnection(pairs[index].near, on: loop)
                }
                for (index, connection) in connections.enumerated() {
                    connection.onReady = {
                        guard newcomer.value == nil else { return }
                        connections[1 - index].registration.cancel()
                        let made = try? TestConnection(pairs[2].near, on: loop)
                        newcomer.update { $0 = made }
                    }
                }
                for pair in pairs[..<2] { pair.poke() }
                return (newcomer, connections)
            }
            try await loop.eventually("replaced") { newcomer.value != nil }
            await loop.onLoop {}
            await loop.onLoop {}
            #expect(await loop.onLoop { newcomer.value?.readinesses } == [])
            #expect(await loop.onLoop { first.map(\.readinesses.count).reduce(0, +) } == 1)
            pairs[2].poke()
            try await loop.eventually("the newcomer hears its own") { newcomer.value?.readinesses.isEmpty == false }
        }
    }

    @Test(arguments: [9, 20, 300])
    func `R-723: descriptors that are always ready and take long let each other have turns`(count: Int) async throws {
        try await withLoop { loop in
            let pairs = try (0..<count).map { _ in try SocketPair() }
            for pair in pairs { pair.poke() }
            let busy = try await loop.tryOnLoop { () throws(SocketError) in
                var busy: [BusyHandler] = []
                for pair in pairs { busy.append(try BusyHandler(pair.near, on: loop)) }
                return busy
            }
            try await loop.eventually("all have had turns") { busy.allSatisfy { $0.turns >= 3 } }
            let turns = await loop.onLoop { busy.map(\.turns) }
            #expect(turns.max()! - turns.min()! <= 2, "\(turns)")
            withExtendedLifetime(pairs) {}
        }
    }

    @Test func `interest can be changed, taken away and given back`() async throws {
        try await withLoop { loop in
            let pair = try SocketPair()
            let connection = try await loop.tryOnLoop { () throws(SocketError) in
                try TestConnection(pair.near, on: loop, interest: [])
            }
            pair.poke()
            for _ in 0..<10 { await loop.onLoop {} }
            #expect(await loop.onLoop { connection.readinesses } == [])
            await loop.onLoop { connection.registration.update(.readable) }
            try await loop.eventually("read") { connection.received == [1] }
            await loop.onLoop { connection.registration.update([.readable, .writable]) }
            try await loop.eventually("writable") { connection.readinesses.last == .writable }
        }
    }

    @Test func `without interest a hang-up is told once, and the loop does not spin`() async throws {
        try await withLoop { loop in
            let pair = try SocketPair()
            let connection = try await loop.tryOnLoop { () throws(SocketError) in
                try TestConnection(pair.near, on: loop, interest: [])
            }
            pair.far.close()
            try await loop.eventually("hang-up") { !connection.readinesses.isEmpty }
            for _ in 0..<10 { await loop.onLoop {} }
            #expect(await loop.onLoop { connection.readinesses } == [.hangup])
        }
    }

    @Test func `the loop keeps the handler until it is cancelled or the loop ends`() async throws {
        let loop = try EventLoop(name: "keeper")
        weak var cancelled: TestConnection?
        weak var kept: TestConnection?
        // Held to the end, so that neither hears a hang-up.
        let pairs = [try SocketPair(), try SocketPair()]
        do {
            let made = try await loop.tryOnLoop { () throws(SocketError) in
                [try TestConnection(pairs[0].near, on: loop), try TestConnection(pairs[1].near, on: loop)]
            }
            (cancelled, kept) = (made[0], made[1])
            await loop.onLoop { made[0].registration.cancel() }
        }
        await loop.onLoop {}
        #expect(cancelled == nil)
        #expect(kept != nil)
        loop.stop()
        #expect(kept == nil)
        withExtendedLifetime(pairs) {}
    }

    @Test func `cancelling after the loop has ended does nothing`() async throws {
        let loop = try EventLoop(name: "ended")
        let pair = try SocketPair()
        let connection = try await loop.tryOnLoop { () throws(SocketError) in
            try TestConnection(pair.near, on: loop)
        }
        loop.stop()
        #expect(connection.registration.isCancelled)
        connection.registration.cancel()
        connection.registration.update(.writable)
    }

    @Test func `a descriptor that its library reopened under the same number is watched again`() async throws {
        try await withLoop { loop in
            let pair = try SocketPair()
            let other = try SocketPair()
            let connection = try await loop.tryOnLoop { () throws(SocketError) in
                let connection = try TestConnection(pair.near, on: loop)
                connection.registration.update([])
                #expect(dup2(other.near.descriptor.rawValue, pair.near.descriptor.rawValue) >= 0)
                connection.registration.update(.readable)
                return connection
            }
            other.poke()
            try await loop.eventually("read") { connection.received == [1] }
            withExtendedLifetime((pair, other)) {}
        }
    }

    @Test func `what epoll cannot watch is refused`() async throws {
        try await withLoop { loop in
            let file = FileDescriptor(owning: open("/dev/null", O_RDONLY))
            let pair = try SocketPair()
            let handler = try await loop.tryOnLoop { () throws(SocketError) in
                try TestConnection(pair.near, on: loop)
            }
            await #expect(throws: SocketError.self) {
                try await loop.tryOnLoop { () throws(SocketError) in
                    _ = try loop.register(file, interest: .readable, handler: handler)
                }
            }
        }
    }
}

/// Two connected sockets.
private struct SocketPair: Sendable {
    let near: Socket
    let far: Socket

    init() throws {
        var descriptors: [Int32] = [0, 0]
        try #require(
            socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0, &descriptors) == 0)
        near = Socket(FileDescriptor(owning: descriptors[0]))
        far = Socket(FileDescriptor(owning: descriptors[1]))
    }

    /// Makes `near` readable.
    func poke() {
        #expect([UInt8(1)].withUnsafeBytes { far.send($0) } == .bytes(1))
    }
}

/// Leaves what it could receive, and takes a millisecond each time. Loop-confined.
private final class BusyHandler: EventHandler, @unchecked Sendable {
    private(set) var turns = 0
    private let loop: EventLoop
    private var registration: Registration?

    init(_ socket: Socket, on loop: EventLoop) throws(SocketError) {
        self.loop = loop
        registration = try loop.register(socket.descriptor, interest: .readable, handler: self)
    }

    func ready(_ readiness: Readiness) {
        turns += 1
        let end = loop.now + .milliseconds(1)
        while loop.now < end {}
    }
}
