// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkScheduling
import TidemarkSockets
import TidemarkTelemetry
import TidemarkTestSupport

@testable import TidemarkPostgres

/// What is counted of connections and errors. Other tests count, too: so what is expected is the least.
@Suite struct PostgresMetricsTests {
    @Test func `R-816: an error counts in the class of its SQLSTATE`() {
        for (state, expected) in [
            ("40001", PostgresMetrics.ErrorClass.rollback), ("55P03", .objectState), ("57014", .intervention),
            ("XX000", .internalError), ("22012", .data), ("0A000", .other), ("", .other),
        ] {
            #expect(PostgresMetrics.ErrorClass(SQLState(state)) == expected, "\(state)")
        }
        let texts = PostgresMetrics.ErrorClass.allCases.map(\.text)
        #expect(Set(texts).count == texts.count)
    }

    @Test func `R-816: refused statements, leases, waits and lost connections are counted`() async throws {
        let metrics = PostgresMetrics.shared
        let (errors, waits) = (metrics.errors.value(.data), metrics.waits.count(.other))
        let lost = metrics.lost.value(.other)
        try await withPool { pool in
            _ = await postgresError { _ = try await pool.execute([Sample.divide(.int4(0))]) }
            #expect(metrics.errors.value(.data) >= errors + 1)
            let lease = try await pool.acquire()
            #expect(metrics.leases.value(.other) >= 1 && metrics.open.value(.other) >= 1)
            let waiting = Task { try await pool.acquire() }
            try await eventually { await pool.loop.run { pool.exclusive.waiterCount == 1 }.value }
            pool.release(lease)
            pool.release(try await waiting.value)
            #expect(metrics.waits.count(.other) >= waits + 2)
            let rows = try await pool.withConnection { try await $0.execute([Sample.backend()]) }
            let kill = Statement(.read, "terminate", "SELECT pg_terminate_backend($1)", [.int4])
            _ = try await pool.execute([kill(.int4(try rows[0][0].int32(0)))])
            try await eventually { metrics.lost.value(.other) >= lost + 1 }
        }
    }
}
