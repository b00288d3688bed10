// SPDX-License-Identifier: Apache-2.0

package import TidemarkHTTP
internal import TidemarkScheduling
package import TidemarkSockets
package import TidemarkTLS
internal import TidemarkTelemetry
package import TidemarkWebSocket

/// Accepts connections and makes ``MessageConnection``s on the given loops. From any thread.
package final class TransportServer: Sendable {
    /// Where a server listens, with which certificate and within which limits.
    package struct Configuration: Sendable {
        /// Where to listen. The kernel chooses port 0.
        package var addresses: [SocketAddress]
        /// Nil for no TLS. The caller then makes sure that it listens on loopback only.
        package var tls: TLSContext?
        package var limits: TransportLimits
        /// The kind of its connections in the metrics.
        package var listener = ListenerKind.clients
        /// The proxies that it trusts to name their client.
        package var proxies = TrustedProxies()

        package init(addresses: [SocketAddress], tls: TLSContext?, limits: TransportLimits = TransportLimits()) {
            self.addresses = addresses
            self.tls = tls
            self.limits = limits
        }
    }

    /// Decides on a request; called on the connection's loop.
    package typealias Accept = @Sendable (RequestHead, SocketAddress) -> AcceptDecision

    /// The addresses on which it listens, with the ports that the kernel chose.
    package let localAddresses: [SocketAddress]
    private let parts: [Part]
    private let listeners: [Listener]
    private let counter: ConnectionCounter

    /// The part of the server on one loop.
    private struct Part: Sendable {
        let group: ConnectionGroup
        let counter: ConnectionCounter
    }

    /// Begins to listen.
    ///
    /// - Parameter loops: the first one accepts. Each connection is then given to the loop with the fewest.
    /// - Throws: `SocketError` if it cannot listen at one of the addresses; it then listens at none.
    package static func start(
        on loops: [EventLoop], _ configuration: Configuration, accept: @escaping Accept
    ) async throws -> TransportServer {
        precondition(!loops.isEmpty, "a server has a loop")
        let connectionsMax = configuration.limits.connectionsMax
        let gate = configuration.limits.places.map { ConnectionGate($0) }
        let counter = ConnectionCounter(max: connectionsMax)
        let parts = loops.map { loop in
            let counter = ConnectionCounter(max: connectionsMax, total: counter)
            return Part(
                group: ConnectionGroup(
                    loop: loop, limits: configuration.limits, listener: configuration.listener, counter: counter),
                counter: counter)
        }
        let listeners = try await loops[0].runThrowing {
            try Listener.all(on: loops[0], at: configuration.addresses) { descriptor, peer in
                admit(descriptor, from: peer, to: parts, gate, configuration, accept)
            }
        }.value
        return TransportServer(parts: parts, listeners: listeners, counter: counter)
    }

    private init(parts: [Part], listeners: [Listener], counter: ConnectionCounter) {
        localAddresses = listeners.map(\.localAddress)
        self.parts = parts
        self.listeners = listeners
        self.counter = counter
    }

    private static func admit(
        _ descriptor: FileDescriptor, from peer: SocketAddress, to parts: [Part], _ gate: ConnectionGate?,
        _ configuration: Configuration, _ accept: @escaping Accept
    ) {
        let metrics = TransportMetrics.shared
        let listener = parts[0].group.listener
        guard let part = parts.min(by: { $0.counter.value < $1.counter.value }), part.counter.add() else {
            metrics.refused.increment(listener)
            return descriptor.close()
        }
        metrics.accepted.increment(listener)
        let pass = gate?.arrive(from: peer, isProxy: configuration.proxies.has(peer), on: part.group.loop)
        if pass?.refusal != nil { metrics.crowdedOut.increment() }
        part.group.loop.execute {
            do {
                try MessageConnection.accept(
                    descriptor, from: peer, group: part.group, context: configuration.tls, pass: pass,
                    proxies: configuration.proxies, decide: accept)
            } catch {
                // The peer is already gone, or there is no memory for another connection. The peer will try again.
                metrics.failed.increment()
                pass?.leave()
                part.counter.remove()
                descriptor.close()
            }
        }
    }

    /// Connections on all loops, open or not.
    package var connectionCount: Int { counter.value }

    /// Accepts no more connections. Existing ones go on.
    package func stopListening() async {
        await parts[0].group.loop.run { [listeners] in listeners.forEach { $0.close() } }.value
    }

    /// Stops listening and closes every connection. Returns when all have ended, which takes at most twice
    /// ``TransportLimits/closeDeadline``.
    package func stop(_ code: CloseCode = .goingAway, reason: String = "") async {
        await stopListening()
        for part in parts {
            await part.group.loop.run {
                for connection in part.group.connections { connection.close(code, reason: reason) }
            }.value
        }
        for part in parts { await part.group.waitUntilEmpty() }
    }
}
