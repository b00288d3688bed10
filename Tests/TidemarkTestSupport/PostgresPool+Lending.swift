// SPDX-License-Identifier: Apache-2.0

package import TidemarkPostgres

extension PostgresPool {
    /// Lends a connection while `body` runs. If `body` leaves a transaction open, the pool rolls it back.
    ///
    /// - Throws: what `body` and ``PostgresPool/acquire(timeout:)`` throw.
    package func withConnection<Success>(
        timeout: Duration? = nil, _ body: (PostgresConnection) async throws -> Success
    ) async throws -> Success {
        let lease = try await acquire(timeout: timeout)
        defer { release(lease) }
        return try await body(lease.connection)
    }
}
