// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import Testing
internal import TidemarkScheduling
internal import TidemarkSockets
internal import TidemarkTestSupport
internal import TidemarkTransport
internal import TidemarkWebSocket

/// A client whose machine, or process, slept: its connections may be dead, with nobody to say so.
@Suite(.timeLimit(.minutes(10))) struct MessageConnectionSleepTests {
    /// A clock that jumps ahead when the test says that the machine slept.
    private final class Clock: Sendable {
        private let slept = Mutex(Duration.zero)
        private let loop: EventLoop

        init(_ loop: EventLoop) {
            self.loop = loop
        }

        func sleep(_ duration: Duration) { slept.withLock { $0 += duration } }

        var now: Duration { loop.now + slept.withLock { $0 } }
    }

    /// Deadlines that are out of the question but for the one after a sleep.
    private var limits: TransportLimits {
        var limits = TransportLimits.patient
        limits.pongDeadline = .seconds(60)
        limits.writeProgressDeadline = .seconds(60)
        // Looks often.
        limits.closeDeadline = .milliseconds(80)
        limits.wakeDeadline = .milliseconds(300)
        return limits
    }

    @Test(arguments: Wire.allCases)
    func `R-508: a dead connection is noticed within the deadline after an hour's sleep`(_ wire: Wire) async throws {
        try await Scene.run(wire) { scene in
            let clock = Clock(scene.clientLoop)
            let client = await scene.client(scene.target("/record"), limits: limits) { clock.now }
            var events = client.events.makeAsyncIterator()
            #expect(await events.next() == .opened)
            var accepted = scene.accepted.makeAsyncIterator()
            let server = try #require(await accepted.next())
            var serverEvents = server.events.makeAsyncIterator()
            #expect(await serverEvents.next() == .opened)
            // As dead as a peer can be that the kernel still knows: it takes bytes, and answers nothing.
            await server.act { $0.pauseReading() }
            for _ in 0..<200 { await scene.clientLoop.pass() }
            let start = scene.clientLoop.now
            clock.sleep(.seconds(3_600))
            #expect(await events.next() == .closed("failed idleTimedOut"))
            #expect(scene.clientLoop.now - start < .seconds(10))
        }
    }

    @Test(arguments: Wire.allCases)
    func `R-508: a connection that survived the sleep is kept`(_ wire: Wire) async throws {
        try await Scene.run(wire) { scene in
            let clock = Clock(scene.clientLoop)
            let client = await scene.client(scene.target("/echo"), limits: limits) { clock.now }
            var events = client.events.makeAsyncIterator()
            #expect(await events.next() == .opened)
            for _ in 0..<3 {
                clock.sleep(.seconds(3_600))
                for _ in 0..<600 { await scene.clientLoop.pass() }
            }
            await client.send("still here")
            #expect(await events.next() == .text("still here"))
            await client.close(.normal)
            #expect(await events.next() == .closed("local 1000"))
        }
    }

    @Test func `R-508: a handshake that was under way is given up after a sleep`() async throws {
        try await Scene.run(.plain) { scene in
            let loop = scene.serverLoop
            // Takes connections, and never says a word.
            let listener = try await loop.runThrowing {
                try Listener(loop: loop, address: .loopback(port: 0)) { descriptor, _ in
                    _ = loop.schedule(after: .seconds(30)) { descriptor.close() }
                }
            }.value
            let clock = Clock(scene.clientLoop)
            let target = TransportClient.Target(host: "127.0.0.1", port: listener.localAddress.port, tls: nil)
            let client = await scene.client(target, limits: limits) { clock.now }
            for _ in 0..<200 { await scene.clientLoop.pass() }
            clock.sleep(.seconds(60))
            var events = client.events.makeAsyncIterator()
            #expect(await events.next() == .closed("failed handshakeTimedOut"))
            await loop.run { listener.close() }.value
        }
    }
}
