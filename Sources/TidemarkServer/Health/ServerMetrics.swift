// SPDX-License-Identifier: Apache-2.0

internal import TidemarkPostgres
internal import TidemarkService
internal import TidemarkSessions
internal import TidemarkStore
internal import TidemarkTelemetry
internal import TidemarkTracing
internal import TidemarkTransport

/// The metrics of the process, its event loops, its certificate and its disk for operators.
final class ServerMetrics: Sendable {
    static let shared = ServerMetrics()

    let build = InfoMetric(
        "tidemark_build_info", "The version of the program.", ["version": Server.version])
    let migration = Gauge(
        "tidemark_store_migration_version", "How many migrations the database has. All servers of it have the same.")
    /// A busy loop has some: a turn ends after 5 ms and a few pieces of work more. A loop without much to do has none,
    /// unless one piece took so long.
    let heldTurns = Counter(
        "tidemark_loop_held_turns_total",
        "Turns of event loops for which a processor worked 5 ms or more. Everybody on the loop waited meanwhile.")
    let longPieces = Counter(
        "tidemark_loop_long_pieces_total",
        "Turns of event loops in which a processor worked 5 ms or more for one piece of work. No message should take so long."
    )
    let certificateEnd = Gauge(
        "tidemark_tls_certificate_end_timestamp_seconds",
        "When the certificate in use ends, in seconds since 1970. 0 without TLS.")
    let assetDiskFree = Gauge(
        "tidemark_asset_disk_free_bytes",
        "Bytes that are free in the file system of the asset directory. 0 without one.")
    let assetDiskSize = Gauge(
        "tidemark_asset_disk_size_bytes", "Bytes of the file system of the asset directory. 0 without one.")
    let startTime = Gauge(
        "process_start_time_seconds", "When the process began, in seconds since 1970. It changes with each restart.")
    let openDescriptors = Gauge("process_open_fds", "Files and sockets that the process has open.")
    let descriptorsMax = Gauge("process_max_fds", "How many files and sockets the process may have open.")
    let residentMemory = Gauge("process_resident_memory_bytes", "Physical memory that the process has.")
    let processorTime = SecondsCounter(
        "process_cpu_seconds_total", "Time that processors have worked for the process, with the kernel's part.")

    /// All rooms make their metrics, so that a scrape has each from the first on.
    private init() {
        _ = TransportMetrics.shared
        _ = PostgresMetrics.shared
        _ = ServiceMetrics.shared
        _ = SessionMetrics.shared
        _ = TracingMetrics.shared
        _ = TokenMetrics.shared
        _ = NoticeBusMetrics.shared
    }

    /// The observed gauges of a server's parts, for as long as the result lives.
    static func observe(_ writes: SharedWrites, _ budget: RequestBudget) -> [MetricObservation] {
        let sessions = SessionMetrics.shared
        return [
            ServiceMetrics.shared.writesQueued.observe { writes.requestCount },
            sessions.budgetUsed.observe(.requests) { budget.bytesUnderWay },
            sessions.budgetLimit.observe(.requests) { budget.bytesMax },
            sessions.budgetUsed.observe(.writes) { writes.bytes.used },
            sessions.budgetLimit.observe(.writes) { writes.bytes.max },
        ]
    }
}
