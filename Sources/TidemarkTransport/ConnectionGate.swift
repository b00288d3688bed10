// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import TidemarkSockets
internal import TidemarkTelemetry

/// Gives a server's connections their places, on all its loops.
final class ConnectionGate: Sendable {
    private struct State {
        var places: ConnectionPlaces
        var passes: [UInt64: ConnectionPass] = [:]
        var lastID: UInt64 = 0
    }

    private let state: Mutex<State>

    init(_ limits: PlaceLimits) {
        state = Mutex(State(places: ConnectionPlaces(limits)))
    }

    /// A pass for a connection that was accepted, for the given loop. Another connection may have to give way.
    ///
    /// - Parameter isProxy: whether the peer is a proxy that says who its client is.
    func arrive(from peer: SocketAddress, isProxy: Bool, on loop: EventLoop) -> ConnectionPass {
        let now = loop.now
        let (pass, others) = state.withLock { state in
            state.lastID += 1
            let id = state.lastID
            let arrival = state.places.arrive(id, from: peer.block, isProxy: isProxy, at: now)
            let pass = ConnectionPass(id: id, gate: self, loop: loop, refusal: arrival.refusal)
            state.passes[id] = pass
            return (pass, Others(of: arrival, in: &state))
        }
        others.hear()
        return pass
    }

    /// The connection is that of another address than the one from which it arrived.
    ///
    /// - Returns: why it is refused; nil if it is not.
    func move(_ pass: ConnectionPass, to block: AddressBlock, at now: Duration) -> Overcrowding? {
        let (refusal, others) = state.withLock { state -> (Overcrowding?, Others?) in
            guard let arrival = state.places.move(pass.id, to: block, at: now) else { return (pass.refusal, nil) }
            return (arrival.refusal, Others(of: arrival, in: &state))
        }
        others?.hear()
        return refusal
    }

    /// Whether it has a place again since it was to give way: it has moved.
    func isNewcomer(_ pass: ConnectionPass) -> Bool { state.withLock { $0.places.isNewcomer(pass.id) } }

    /// The connections that must learn of an arrival.
    private struct Others {
        let victim: ConnectionPass?
        let why: Overcrowding
        let ended: ConnectionPass?

        init(of arrival: ConnectionPlaces.Arrival, in state: inout State) {
            victim = arrival.victim.flatMap { state.passes[$0.id] }
            why = arrival.victim?.why ?? .ofServer
            ended = arrival.ended.flatMap { state.passes.removeValue(forKey: $0) }
        }

        func hear() {
            victim?.giveWay(why)
            ended?.end()
        }
    }

    func settle(_ pass: ConnectionPass, isAnonymous: Bool) -> Overcrowding? {
        let (crowd, ended) = state.withLock { state in
            let crowd = state.places.settle(pass.id, isAnonymous: isAnonymous)
            return (crowd, state.places.firstToEnd().flatMap { state.passes.removeValue(forKey: $0) })
        }
        ended?.end()
        return crowd
    }

    func leave(_ pass: ConnectionPass) {
        state.withLock { state in
            state.places.leave(pass.id)
            state.passes[pass.id] = nil
        }
    }
}

/// The place of one connection. Its connection is confined to its loop.
final class ConnectionPass: @unchecked Sendable {
    let id: UInt64
    private let gate: ConnectionGate
    private let loop: EventLoop
    /// From its arrival on the loop until it has left. NB: a weak reference would take 32 more bytes for each connection.
    var connection: MessageConnection?
    /// Nil: the connection may be opened. Otherwise its request is refused.
    private(set) var refusal: Overcrowding?
    /// Whether it must end before there is a connection.
    private(set) var isEnded = false

    init(id: UInt64, gate: ConnectionGate, loop: EventLoop, refusal: Overcrowding?) {
        self.id = id
        self.gate = gate
        self.loop = loop
        self.refusal = refusal
    }

    /// Nil: it has a place for as long as it lives.
    func settle(isAnonymous: Bool) -> Overcrowding? { gate.settle(self, isAnonymous: isAnonymous) }

    /// The connection is not the proxy's from which it came, but that of a client. Called on its loop.
    func move(from proxy: SocketAddress, to client: SocketAddress) {
        guard proxy.block != client.block else { return }
        let wasRefused = refusal != nil
        refusal = gate.move(self, to: client.block, at: loop.now)
        if refusal != nil, !wasRefused { TransportMetrics.shared.crowdedOut.increment() }
    }

    func leave() {
        connection = nil
        gate.leave(self)
    }

    func giveWay(_ crowd: Overcrowding) {
        loop.execute { [self] in
            guard !gate.isNewcomer(self) else { return }
            refusal = crowd
            connection?.giveWay(crowd)
        }
    }

    func end() {
        loop.execute { [self] in
            isEnded = true
            connection?.crowdOut()
        }
    }
}
