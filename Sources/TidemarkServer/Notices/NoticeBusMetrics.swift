// SPDX-License-Identifier: Apache-2.0

internal import TidemarkTelemetry

/// The metrics of the bus that carries notices between servers, if it is not the database.
final class NoticeBusMetrics: Sendable {
    /// The direction of a message.
    enum Direction: Int, MetricLabel {
        /// This server published it.
        case out
        /// Another one did.
        case `in`

        static let label = "direction"
    }

    static let shared = NoticeBusMetrics()

    let connected = Gauge(
        "tidemark_notice_bus_connected",
        "Whether the server is connected to the bus of --notice-bus-url. 0 also without one.")
    let messages = CounterFamily<Direction>(
        "tidemark_notice_bus_messages_total", "Messages of the bus that this server published (out) and heard (in).")
    let dropped = Counter(
        "tidemark_notice_bus_messages_dropped_total",
        "Messages of the bus that this server did not understand, or could not publish. Other servers' sweeps make up for them."
    )
    let gaps = Counter(
        "tidemark_notice_bus_gaps_total",
        "Times that the server began to listen to the bus. After each it compares with the store.")

    private init() {}
}
