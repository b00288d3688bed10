// SPDX-License-Identifier: Apache-2.0

internal import Testing
internal import TidemarkHTTP
internal import TidemarkScheduling
internal import TidemarkSockets
internal import TidemarkTestSupport

@testable internal import TidemarkTransport

/// A host with several addresses, of which some do not answer.
@Suite(.timeLimit(.minutes(20))) struct AddressTurnsTests {
    private static func addresses(_ count: Int) -> [SocketAddress] {
        (0..<count).map { .loopback(port: UInt16($0 + 1)) }
    }

    @Test func `each address has its part of the time, and the last one all that is left`() {
        let all = Self.addresses(3)
        var turns = AddressTurns(all, deadline: .seconds(40), patience: .seconds(60))
        let first = turns.next(at: .seconds(10))
        #expect(first?.address == all[0] && first?.time == .seconds(10))
        // What an address that is refused at once has left goes to the others.
        let second = turns.next(at: .seconds(10))
        #expect(second?.address == all[1] && second?.time == .seconds(15) && turns.number == 2)
        let third = turns.next(at: .seconds(25))
        #expect(third?.address == all[2] && third?.time == nil)
        #expect(turns.next(at: .seconds(25)) == nil && turns.number == 3)
    }

    @Test func `an address gets no more than its bound, and nothing after the deadline`() {
        var turns = AddressTurns(Self.addresses(3), deadline: .seconds(40), patience: .seconds(3))
        #expect(turns.next(at: .seconds(10))?.time == .seconds(3))
        #expect(turns.next(at: .seconds(50))?.time == .zero)
        var one = AddressTurns(Self.addresses(1), deadline: .seconds(40), patience: .seconds(3))
        let only = one.next(at: .seconds(10))
        #expect(only != nil && only?.time == nil)
        var none = AddressTurns()
        #expect(none.next(at: .zero) == nil)
    }

    /// The first does not answer, at the second nobody listens, and the third is the server.
    private func lookUp(_ deaf: DeafPeer, _ server: SocketAddress) throws -> HostLookUp {
        let found = [deaf.address, try DeafPeer.unusedAddress(), server]
        return { _, _, completion in completion(.success(found)) }
    }

    @Test(arguments: Wire.allCases)
    func `a device reaches a server whose first address does not answer`(_ wire: Wire) async throws {
        try await Scene.run(wire) { (scene: Scene) async throws in
            let deaf = try DeafPeer()
            defer { deaf.close() }
            let lookUp = try lookUp(deaf, scene.address)
            var limits = TransportLimits.patient
            limits.addressDeadline = .milliseconds(50)
            let recorder = Recorder(loop: scene.clientLoop)
            let (loop, target, bounds) = (scene.clientLoop, scene.target("/echo"), limits)
            await loop.run {
                recorder.connection = TransportClient.connect(
                    on: loop, to: target, limits: bounds, lookUp: lookUp, handler: recorder)
            }.value
            var events = recorder.events.makeAsyncIterator()
            #expect(await events.next() == .opened)
        }
    }

    @Test(arguments: Wire.allCases)
    func `R-907: spans reach a collector whose first address does not answer`(_ wire: Wire) async throws {
        try await HTTPScene.run(wire) { (scene: HTTPScene) async throws in
            let deaf = try DeafPeer()
            defer { deaf.close() }
            var limits = HTTPClientLimits()
            limits.deadline = .seconds(60)
            limits.addressDeadline = .milliseconds(50)
            let tls = wire == .tls ? TestContexts.shared.client : nil
            let client = HTTPClient(
                on: scene.clientLoop, target: .init(host: "127.0.0.1", port: 1, tls: tls), limits: limits,
                lookUp: try lookUp(deaf, scene.server.localAddresses[0]))
            let status = await scene.clientLoop.run {
                let response = try? await client.post("/echo", fields: HeaderFields(), body: [65])
                return response?.head.status.code
            }.value
            #expect(status == 200)
            await scene.clientLoop.run { client.close() }.value
        }
    }
}
