// SPDX-License-Identifier: Apache-2.0

package import TidemarkHTTP
internal import TidemarkScheduling
package import TidemarkSockets
package import TidemarkTLS
internal import TidemarkTelemetry
package import TidemarkWebSocket

/// Listens on every loop that it is given and turns what comes into ``MessageConnection``s. From any thread.
package final class TransportServer: Sendable {
    package struct Configuration: Sendable {
        /// Where to listen. Port 0 is chosen by the kernel, the same for all loops.
        package var addresses: [SocketAddress]
        /// Nil: without TLS; whoever allows that makes sure that it is on loopback only.
        package var tls: TLSContext?
        package var limits: TransportLimits

        package init(addresses: [SocketAddress], tls: TLSContext?, limits: TransportLimits = TransportLimits()) {
            self.addresses = addresses
            self.tls = tls
            self.limits = limits
        }
    }

    /// Judges a request; called on the connection's loop.
    package typealias Accept = @Sendable (RequestHead, SocketAddress) -> AcceptDecision

    /// Where it listens, with the ports that the kernel chose.
    package let localAddresses: [SocketAddress]
    private let parts: [Part]
    private let counter: ConnectionCounter

    /// What the server has on one loop.
    private struct Part: Sendable {
        let group: ConnectionGroup
        let listeners: [Listener]
    }

    /// Listens on all loops, then returns.
    ///
    /// - Throws: `SocketError` if it cannot listen at one of the addresses; then it listens at none.
    package static func start(
        on loops: [EventLoop], _ configuration: Configuration, accept: @escaping Accept
    ) async throws -> TransportServer {
        precondition(!loops.isEmpty, "a server has a loop")
        let counter = ConnectionCounter(max: configuration.limits.connectionsMax)
        var addresses = configuration.addresses
        var parts: [Part] = []
        do {
            for loop in loops {
                let wanted = addresses
                let part = try await loop.runThrowing {
                    try listen(on: loop, wanted, configuration, counter, accept)
                }.value
                parts.append(part)
                addresses = part.listeners.map(\.localAddress)
            }
        } catch {
            for part in parts { part.group.loop.execute { part.listeners.forEach { $0.close() } } }
            throw error
        }
        return TransportServer(localAddresses: addresses, parts: parts, counter: counter)
    }

    private init(localAddresses: [SocketAddress], parts: [Part], counter: ConnectionCounter) {
        self.localAddresses = localAddresses
        self.parts = parts
        self.counter = counter
    }

    private static func listen(
        on loop: EventLoop, _ addresses: [SocketAddress], _ configuration: Configuration,
        _ counter: ConnectionCounter, _ accept: @escaping Accept
    ) throws(SocketError) -> Part {
        let group = ConnectionGroup(loop: loop, limits: configuration.limits, total: counter)
        var listeners: [Listener] = []
        do throws(SocketError) {
            for address in addresses {
                let listener = try Listener(loop: loop, address: address) { descriptor, peer in
                    guard counter.add() else {
                        TransportMetrics.refused.increment()
                        return descriptor.close()
                    }
                    TransportMetrics.accepted.increment()
                    do {
                        try MessageConnection.accept(
                            descriptor, from: peer, group: group, context: configuration.tls, decide: accept)
                    } catch {
                        // The peer is gone already, or there is no memory for one more: it will try again.
                        TransportMetrics.failedHandshakes.increment()
                        counter.remove()
                        descriptor.close()
                    }
                }
                listeners.append(listener)
            }
        } catch {
            listeners.forEach { $0.close() }
            throw error
        }
        return Part(group: group, listeners: listeners)
    }

    /// Connections on all loops, open or not.
    package var connectionCount: Int { counter.value }

    /// Accepts no more connections; those that are there go on.
    package func stopListening() async {
        for part in parts {
            await part.group.loop.run { part.listeners.forEach { $0.close() } }.value
        }
    }

    /// Stops listening and closes every connection. Returns when all have ended, which takes
    /// ``TransportLimits/closeDeadline`` twice at most.
    package func stop(_ code: CloseCode = .goingAway, reason: String = "") async {
        await stopListening()
        for part in parts {
            await part.group.loop.run {
                for connection in part.group.connections { connection.close(code, reason: reason) }
            }.value
        }
        for part in parts {
            await part.group.waitUntilEmpty()
        }
    }
}
