// SPDX-License-Identifier: Apache-2.0

internal import TidemarkScheduling
package import TidemarkSockets
package import TidemarkTLS
internal import TidemarkTelemetry

/// Serves HTTP/1.1 on the given loops: requests with bodies, several on a connection, streamed answers. From any thread.
///
/// Devices do not connect here: ``TransportServer`` answers one request and closes. Steps of TLS handshakes take no turns
/// here, so the loops should not be those of devices.
package final class HTTPServer: Sendable {
    /// The addresses on which it listens, with the ports that the kernel chose.
    package let localAddresses: [SocketAddress]
    private let groups: [HTTPConnectionGroup]
    private let listeners: [Listener]

    /// Begins to listen. No other process can listen on the same addresses.
    ///
    /// - Parameters:
    ///   - loops: the first one accepts. Each connection is then given to the loop with the fewest.
    ///   - tls: nil for no TLS. The caller then makes sure that only this machine can connect.
    /// - Throws: `SocketError` if it cannot listen at one of the addresses; it then listens at none.
    package static func start(
        on loops: [EventLoop], addresses: [SocketAddress], tls: TLSContext?, limits: HTTPLimits = HTTPLimits(),
        handler: any HTTPHandler
    ) async throws -> HTTPServer {
        precondition(!loops.isEmpty, "a server has a loop")
        let total = ConnectionCounter(max: limits.connectionsMax)
        let groups = loops.map { loop in
            HTTPConnectionGroup(
                loop: loop, limits: limits, handler: handler,
                counter: ConnectionCounter(max: limits.connectionsMax, total: total))
        }
        let listeners = try await loops[0].runThrowing {
            try Listener.all(on: loops[0], at: addresses, options: Listener.Options(sharesAddress: false)) {
                admit($0, from: $1, to: groups, tls)
            }
        }.value
        return HTTPServer(groups, listeners)
    }

    private init(_ groups: [HTTPConnectionGroup], _ listeners: [Listener]) {
        localAddresses = listeners.map(\.localAddress)
        self.groups = groups
        self.listeners = listeners
    }

    private static func admit(
        _ descriptor: FileDescriptor, from peer: SocketAddress, to groups: [HTTPConnectionGroup], _ tls: TLSContext?
    ) {
        if let group = groups.min(by: { $0.counter.value < $1.counter.value }), group.counter.add() {
            group.loop.execute { take(descriptor, from: peer, to: group, tls) }
        } else if let group = groups.max(by: { $0.counter.value < $1.counter.value }) {
            // The limit is reached: another connection must give way.
            group.loop.execute {
                guard group.endOneThatWaits(), group.counter.add() else {
                    TransportMetrics.shared.refused.increment(.admin)
                    return descriptor.close()
                }
                take(descriptor, from: peer, to: group, tls)
            }
        }
    }

    private static func take(
        _ descriptor: FileDescriptor, from peer: SocketAddress, to group: HTTPConnectionGroup, _ tls: TLSContext?
    ) {
        TransportMetrics.shared.accepted.increment(.admin)
        do {
            try HTTPConnection.accept(descriptor, from: peer, group: group, context: tls)
        } catch {
            // The peer is already gone, or there is no memory for another connection.
            group.counter.remove()
            descriptor.close()
        }
    }

    /// Stops listening and ends every connection. Answers under way are completed if they take no longer than
    /// ``HTTPLimits/closeDeadline``.
    package func stop() async {
        await groups[0].loop.run { [listeners] in listeners.forEach { $0.close() } }.value
        for group in groups {
            await group.loop.run { for connection in group.connections { connection.stop() } }.value
        }
        for group in groups { await group.waitUntilEmpty() }
    }
}
