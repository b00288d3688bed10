// SPDX-License-Identifier: Apache-2.0

internal import TidemarkTelemetry

/// The counters of a server's connections, for operators.
enum TransportMetrics {
    static let accepted = Counter("transport_accepted_connections")
    /// Beyond ``TransportLimits/connectionsMax``.
    static let refused = Counter("transport_refused_connections")
    /// Connections that found no place, or had to give way to another one.
    static let crowdedOut = Counter("transport_crowded_out_connections")
    /// Connections that ended before there was a WebSocket or a response: no TLS, a cut, or too slow.
    static let failedHandshakes = Counter("transport_failed_handshakes")
    static let open = Gauge("transport_open_connections")
}
