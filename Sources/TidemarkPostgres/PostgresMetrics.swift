// SPDX-License-Identifier: Apache-2.0

internal import TidemarkTelemetry

/// What the connections of a ``PostgresPool`` are for. They are counted by it.
package enum PostgresPoolKind: Int, MetricLabel {
    /// Transactions of the store.
    case write
    /// The store's reads, which share a few connections.
    case read
    /// Queries of apps.
    case query
    /// Reads of shared databases.
    case shared
    /// An operator's work, and migrations.
    case other

    package static let label = "pool"
}

/// What operators see of PostgreSQL, as this process does.
package final class PostgresMetrics: Sendable {
    /// The class of an error: the first two characters of its SQLSTATE.
    enum ErrorClass: Int, MetricLabel {
        case connection, data, constraint, transactionState, authorization, rollback, syntax, resources, limit
        case objectState, intervention, system, internalError, other

        static let label = "class"

        var text: String {
            switch self {
            case .connection: "08"
            case .data: "22"
            case .constraint: "23"
            case .transactionState: "25"
            case .authorization: "28"
            case .rollback: "40"
            case .syntax: "42"
            case .resources: "53"
            case .limit: "54"
            case .objectState: "55"
            case .intervention: "57"
            case .system: "58"
            case .internalError: "XX"
            case .other: "other"
            }
        }

        init(_ state: SQLState) {
            let prefix = state.description.prefix(2)
            self = Self.allCases.first { $0.text == prefix } ?? .other
        }
    }

    package static let shared = PostgresMetrics()

    let leases = GaugeFamily<PostgresPoolKind>(
        "tidemark_postgres_leases_in_use",
        "Connections that are lent to somebody now. In the pool read, where several share one: batches under way.")
    let waits = HistogramFamily<PostgresPoolKind>(
        "tidemark_postgres_wait_seconds",
        "Time that somebody waited for a connection. Nearly all need not wait, and are in the first bucket.", .times)
    let open = GaugeFamily<PostgresPoolKind>("tidemark_postgres_connections_open", "Open connections to PostgreSQL.")
    let lost = CounterFamily<PostgresPoolKind>(
        "tidemark_postgres_connections_lost_total",
        "Connections to PostgreSQL that ended and were not closed by the server, or that answered too late.")
    let failedConnects = CounterFamily<PostgresPoolKind>(
        "tidemark_postgres_connects_failed_total", "Attempts to connect to PostgreSQL that failed. They are repeated.")
    let errors = CounterFamily<ErrorClass>(
        "tidemark_postgres_errors_total",
        "Statements that PostgreSQL refused, by the class of their SQLSTATE. Classes 40 and 55 are tried again.")

    private init() {}
}
