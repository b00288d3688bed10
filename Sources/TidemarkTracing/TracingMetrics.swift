// SPDX-License-Identifier: Apache-2.0

internal import TidemarkTelemetry

/// The metrics of traces for operators.
package final class TracingMetrics: Sendable {
    /// The outcome of a span.
    enum SpanResult: Int, MetricLabel {
        /// A collector has it.
        case sent
        /// Too many waited.
        case queueFull
        /// The collector does not want it.
        case refused
        /// The collector was not reached, or could not take it, for as long as the span was kept.
        case unreachable

        static let label = "result"
    }

    package static let shared = TracingMetrics()

    let spans = CounterFamily<SpanResult>(
        "tidemark_trace_spans_total",
        "Spans of traced requests: sent to the collector, or dropped and why.")

    private init() {}
}
