// SPDX-License-Identifier: Apache-2.0

internal import Testing
internal import TidemarkScheduling
internal import TidemarkSockets
internal import TidemarkTestSupport
internal import TidemarkWebSocket

@testable internal import TidemarkTransport

/// A large message on a slow network: nothing can be answered before it is there, and nobody is given up.
@Suite(.timeLimit(.minutes(10))) struct DeliveryProgressTests {
    /// What takes several times the deadlines at the pace of ``Recorder/readSlowly()``.
    private static let message = [UInt8](repeating: 7, count: 24 * 1024 * 1024)

    private var limits: TransportLimits {
        var limits = TransportLimits.patient
        limits.idleDeadline = .milliseconds(500)
        limits.pongDeadline = .milliseconds(500)
        limits.writeProgressDeadline = .milliseconds(500)
        limits.queuedBytesMax = 64 * 1024 * 1024
        limits.message.messageBytesMax = 64 * 1024 * 1024
        limits.message.frameBytesMax = 64 * 1024 * 1024
        return limits
    }

    @Test(arguments: Wire.allCases)
    func `R-395: a client whose long message is taken slowly is told so, and is not given up`(_ wire: Wire) async throws
    {
        try await Scene.run(wire, limits: limits) { scene in
            let client = await scene.client(scene.target("/record"), limits: limits)
            var accepted = scene.accepted.makeAsyncIterator()
            let server = try #require(await accepted.next())
            var events = server.events.makeAsyncIterator()
            #expect(await events.next() == .opened)
            var clientEvents = client.events.makeAsyncIterator()
            #expect(await clientEvents.next() == .opened)
            await server.act { _ in server.readSlowly() }
            await client.act { $0.send(.binary, Self.message) }
            guard case .binary(let received)? = await events.next() else {
                Issue.record("the message did not arrive")
                return
            }
            #expect(received.count == Self.message.count)
            #expect(await client.loop.run { client.progressCount }.value > 1)
            #expect(await server.loop.run { server.progressCount }.value == 0)
        }
    }

    @Test(arguments: Wire.allCases)
    func `R-395: a server whose long message is taken slowly does not give the client up`(_ wire: Wire) async throws {
        try await Scene.run(wire, limits: limits) { scene in
            let client = await scene.client(scene.target("/record"), limits: limits)
            var accepted = scene.accepted.makeAsyncIterator()
            let server = try #require(await accepted.next())
            var events = client.events.makeAsyncIterator()
            #expect(await events.next() == .opened)
            await client.act { _ in client.readSlowly() }
            await server.act { $0.send(.binary, Self.message) }
            guard case .binary(let received)? = await events.next() else {
                Issue.record("the message did not arrive")
                return
            }
            #expect(received.count == Self.message.count)
        }
    }

    @Test(arguments: Wire.allCases)
    func `R-395: a client is told of a long message that comes slowly`(_ wire: Wire) async throws {
        // NB: a ping of the server's would be sent in the middle of the frame.
        try await Scene.run(wire) { scene in
            let client = await scene.client(scene.target("/record"), limits: limits)
            var accepted = scene.accepted.makeAsyncIterator()
            let server = try #require(await accepted.next())
            var events = client.events.makeAsyncIterator()
            #expect(await events.next() == .opened)
            let payload = [UInt8](repeating: 9, count: 200_000)
            await server.act { _ in server.sendSlowly(FrameEncoder.frame(.binary, payload: payload, maskKey: nil)[...])
            }
            #expect(await events.next() == .binary(payload))
            #expect(await client.loop.run { client.progressCount }.value > 1)
        }
    }

    // MARK: What counts as progress

    /// Sends and looks, and says when a look found progress.
    private func progress(
        of steps: [(sent: Int, unacknowledged: Int, now: Int)], bytesPerSecondMin: Int
    ) -> [Int] {
        var progress = DeliveryProgress()
        return steps.compactMap { step in
            progress.sent(step.sent)
            let hasMoved = progress.look(
                unacknowledged: step.unacknowledged, bytesPerSecondMin: bytesPerSecondMin, now: .seconds(step.now))
            #expect(!hasMoved || progress.last == .seconds(step.now))
            if step.unacknowledged == 0, !hasMoved { #expect(progress.last != .seconds(step.now)) }
            #expect(progress.isComplete == (hasMoved && step.unacknowledged == 0) || step.unacknowledged == 0)
            return hasMoved ? step.now : nil
        }
    }

    @Test func `bytes that were under way and have arrived are progress`() {
        #expect(progress(of: [(1_000, 900, 1), (0, 600, 3), (500, 0, 60)], bytesPerSecondMin: 100) == [3, 60])
    }

    @Test func `who takes fewer bytes a second than it must takes nothing`() {
        let slow = (1..<100).map { ($0 == 1 ? 100_000 : 0, 100_000 - 255 * ($0 - 1), $0) }
        #expect(progress(of: slow, bytesPerSecondMin: 256) == [])
        #expect(progress(of: slow + [(0, 10, 100)], bytesPerSecondMin: 256) == [100])
        #expect(progress(of: slow, bytesPerSecondMin: 255).count == 98)
    }

    @Test func `what arrived at once shows nothing of the next message`() {
        #expect(progress(of: [(100, 0, 1), (100, 100, 50), (0, 100, 51), (0, 99, 52)], bytesPerSecondMin: 1) == [])
    }
}

extension Recorder {
    /// Reads at most 64 KB each ten milliseconds from now on. On the loop.
    func readSlowly() {
        guard let connection, connection.isOpen else { return }
        connection.resumeReading()
        connection.receive()
        connection.pauseReading()
        _ = loop.schedule(after: .milliseconds(10)) { self.readSlowly() }
    }

    /// Sends a thousand bytes each ten milliseconds from now on. On the loop.
    func sendSlowly(_ bytes: ArraySlice<UInt8>) {
        guard !bytes.isEmpty else { return }
        connection?.sendFrame(Array(bytes.prefix(1_000)))
        _ = loop.schedule(after: .milliseconds(10)) { self.sendSlowly(bytes.dropFirst(1_000)) }
    }
}
