// SPDX-License-Identifier: Apache-2.0

internal import TidemarkTelemetry

/// The metrics of a server's connections for operators.
package final class TransportMetrics: Sendable {
    /// How the TLS handshake of a server's connection ended.
    enum Handshake: Int, MetricLabel {
        /// With the certificate, which costs the server most.
        case full
        /// With a ticket of an earlier connection.
        case resumed
        case failed

        static let label = "result"
    }

    package static let shared = TransportMetrics()

    let accepted = CounterFamily<ListenerKind>(
        "tidemark_connections_accepted_total", "Connections that a listener has accepted, whatever became of them.")
    let open = GaugeFamily<ListenerKind>(
        "tidemark_connections_open", "Connections that there are now, also those that are still being opened or closed."
    )
    let refused = CounterFamily<ListenerKind>(
        "tidemark_connections_refused_total",
        "Connections closed at once because the process has as many as its descriptors allow.")
    let crowdedOut = Counter(
        "tidemark_connections_crowded_out_total",
        "Connections that found no place, or had to give way because too many or too much memory were in use.")
    let failed = Counter(
        "tidemark_connections_failed_total",
        "Connections that ended before a request was read: a failed TLS handshake, a cut, or a client that was too slow."
    )
    let handshakes = CounterFamily<Handshake>(
        "tidemark_tls_handshakes_total", "TLS handshakes: full with the certificate, resumed with a ticket, or failed.")
    let handshakeTime = Histogram(
        "tidemark_tls_handshake_seconds",
        "Time from an accepted connection to the end of its TLS handshake, with the way of the messages to the client.",
        .times)

    private init() {}
}
