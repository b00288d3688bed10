// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkScheduling
import TidemarkSockets
import TidemarkTestSupport

@testable import TidemarkTransport

/// Who takes the next step of a TLS handshake.
@Suite(.timeLimit(.minutes(10))) struct HandshakeTurnsTests {
    private final class Waiter {
        let number: Int
        let block: Int

        init(_ number: Int, of block: Int) {
            self.number = number
            self.block = block
        }
    }

    static func address(_ number: Int) -> SocketAddress {
        guard let address = SocketAddress(numericHost: "10.0.0.\(number)", port: 1) else {
            preconditionFailure("an address")
        }
        return address
    }

    private func block(_ number: Int) -> AddressBlock { Self.address(number).block }

    @Test func `R-735: while nobody waits, an address takes its step at once, and its next in another tick`() {
        var turns = HandshakeTurns<Waiter>(stepsPerTickMax: 3)
        func step(_ number: Int, of address: Int) -> Bool {
            let isAtOnce = turns.mayStep(Waiter(number, of: address), of: block(address))
            if isAtOnce { turns.takesStep(of: block(address)) }
            return isAtOnce
        }
        #expect(step(1, of: 1) == true)
        turns.endTick()
        #expect(step(2, of: 1) == true)
        #expect(step(3, of: 2) == true)
        // The second of its address in this tick waits. After it everybody waits.
        #expect(step(4, of: 1) == false)
        #expect(step(5, of: 3) == false)
        let fourth = turns.next()
        #expect(fourth?.number == 4)
        turns.takesStep(of: block(1))
        // The tick has had its steps.
        let none = turns.next()
        #expect(none == nil)
        turns.endTick()
        let fifth = turns.next()
        #expect(fifth?.number == 5)
        #expect(turns.isEmpty)
    }

    /// Fails if it takes a step at once.
    private func wait(_ waiter: Waiter, in turns: inout HandshakeTurns<Waiter>) {
        let isAtOnce = turns.mayStep(waiter, of: block(waiter.block))
        #expect(!isAtOnce)
    }

    private func take(_ count: Int, from turns: inout HandshakeTurns<Waiter>) -> [Waiter] {
        var taken: [Waiter] = []
        while taken.count < count, let waiter = turns.next() { taken.append(waiter) }
        return taken
    }

    @Test func `R-735: a newcomer waits for one step of each other address, however many of these wait`() {
        var turns = HandshakeTurns<Waiter>(stepsPerTickMax: 8)
        turns.takesStep(of: block(1))
        for number in 0..<1_000 { wait(Waiter(number, of: 1), in: &turns) }
        for number in 1_000..<1_010 { wait(Waiter(number, of: 2), in: &turns) }
        wait(Waiter(2_000, of: 3), in: &turns)
        turns.endTick()
        let taken = take(4, from: &turns)
        #expect(taken.map(\.block) == [1, 2, 3, 1])
    }

    @Test func `R-735: a connection that ends while it waits leaves, and the turn is its address's`() {
        var turns = HandshakeTurns<Waiter>(stepsPerTickMax: 8)
        turns.takesStep(of: block(1))
        let waiters = (0..<5).map { Waiter($0, of: $0 == 4 ? 2 : 1) }
        for waiter in waiters { wait(waiter, in: &turns) }
        for waiter in [waiters[0], waiters[2], waiters[0]] { turns.leave(waiter, of: block(1)) }
        let taken = take(5, from: &turns)
        #expect(taken.map(\.number) == [1, 4, 3])
    }

    /// Everything that may happen, in any order, beside what should follow.
    @Test(arguments: 0..<100 as Range<UInt64>)
    func `R-735: in any history a tick has so many steps, and nobody is passed over twice`(_ seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let stepsMax = Int.random(in: 1...8, using: &random)
        var turns = HandshakeTurns<Waiter>(stepsPerTickMax: stepsMax)
        var waiting: [Waiter] = []
        var number = 0
        // Of each address that waits, the steps of others since its last turn, or since it began to wait.
        var seen: [Int: [Int: Int]] = [:]
        for _ in 0..<100 {
            var stepCount = 0
            func step(of address: Int) {
                turns.takesStep(of: block(address))
                stepCount += 1
                for other in Set(waiting.map(\.block)) where other != address {
                    seen[other, default: [:]][address, default: 0] += 1
                }
            }
            for _ in 0..<Int.random(in: 0..<12, using: &random) {
                if !waiting.isEmpty, Int.random(in: 0..<4, using: &random) == 0 {
                    let gone = waiting.remove(at: Int.random(in: waiting.indices, using: &random))
                    turns.leave(gone, of: block(gone.block))
                    continue
                }
                number += 1
                let waiter = Waiter(number, of: Int.random(in: 1...5, using: &random))
                if turns.mayStep(waiter, of: block(waiter.block)) {
                    #expect(waiting.isEmpty, "seed \(seed): it passed those who wait")
                    // Some find that the stream has ended.
                    if Bool.random(using: &random) { step(of: waiter.block) }
                } else {
                    if !waiting.contains(where: { $0.block == waiter.block }) { seen[waiter.block] = [:] }
                    waiting.append(waiter)
                }
            }
            while let waiter = turns.next() {
                let first = waiting.first { $0.block == waiter.block }
                #expect(first === waiter, "seed \(seed): not in order")
                waiting.removeAll { $0 === waiter }
                seen[waiter.block] = [:]
                if Int.random(in: 0..<5, using: &random) > 0 { step(of: waiter.block) }
            }
            #expect(stepCount <= stepsMax, "seed \(seed)")
            #expect(stepCount == stepsMax || waiting.isEmpty, "seed \(seed): steps are left, and somebody waits")
            #expect(turns.isEmpty == waiting.isEmpty, "seed \(seed)")
            #expect(seen.values.allSatisfy { $0.values.allSatisfy { $0 <= 1 } }, "seed \(seed): passed over")
            turns.endTick()
        }
    }

    // MARK: With sockets

    @Test func `R-735: among handshakes of one crowded address another's is done after a few`() async throws {
        var limits = TransportLimits.patient
        limits.handshakeStepsPerTickMax = 1
        let crowd = try Crowd(limits: limits, countMax: 81) { Self.address($0 == 60 ? 2 : 1) }
        let address = try await crowd.listen()
        let clientLoop = try EventLoop(name: "client")
        var peers: [RawPeer] = []
        for _ in 0..<81 {
            peers.append(
                try await RawPeer.connect(
                    to: address, on: clientLoop, tls: TestContexts.shared.client, .none, sending: RawPeer.upgrade()))
        }
        for peer in peers {
            await peer.receiveAll()
            await peer.close()
        }
        let served = await crowd.stop()
        clientLoop.stop()
        #expect(served.count == 81)
        // In the order in which they came it would be the sixty-first.
        let place = try #require(served.firstIndex(of: Self.address(2)))
        #expect(place < 10)
    }

    @Test func `R-735: who is reset while it waits for its step leaves without one`() async throws {
        var limits = TransportLimits.patient
        limits.handshakeDeadline = .seconds(3_600)
        // Nobody ever has a turn.
        limits.handshakeStepsPerTickMax = 0
        try await Scene.run(.tls, limits: limits) { scene in
            var peers: [RawPeer] = []
            for _ in 0..<50 { peers.append(try await scene.rawPeer()) }
            while scene.server.connectionCount < 50 { await scene.serverLoop.pass() }
            for peer in peers { await peer.reset() }
            await scene.allEnded()
        }
    }
}

/// Connections that all begin at the same moment, when the last one is there. The test says which addresses they have.
private final class Crowd: @unchecked Sendable {
    private let loop: EventLoop
    private let group: ConnectionGroup
    private let countMax: Int
    private let address: @Sendable (Int) -> SocketAddress

    // Used on the loop.

    private var listener: Listener?
    private var arrived: [FileDescriptor] = []
    /// Whose request came, in order.
    private var served: [SocketAddress] = []

    init(limits: TransportLimits, countMax: Int, address: @escaping @Sendable (Int) -> SocketAddress) throws {
        loop = try EventLoop(name: "server")
        group = ConnectionGroup(loop: loop, limits: limits)
        self.countMax = countMax
        self.address = address
    }

    func listen() async throws -> SocketAddress {
        try await loop.runThrowing { [self] in
            let listener = try Listener(loop: loop, address: .loopback(port: 0)) { [self] descriptor, _ in
                arrived.append(descriptor)
                if arrived.count == countMax { begin() }
            }
            self.listener = listener
            return listener.localAddress
        }.value
    }

    private func begin() {
        for (number, descriptor) in arrived.enumerated() {
            do {
                try MessageConnection.accept(
                    descriptor, from: address(number), group: group, context: TestContexts.shared.server
                ) { [self] head, peer in
                    served.append(peer)
                    return .response(.answer(head, found: nil))
                }
            } catch {
                Issue.record("\(error)")
            }
        }
        arrived = []
    }

    /// - Returns: whose request came, in order.
    func stop() async -> [SocketAddress] {
        await group.waitUntilEmpty()
        let served = await loop.run { [self] in
            listener?.close()
            listener = nil
            return self.served
        }.value
        loop.stop()
        return served
    }
}
