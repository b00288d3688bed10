// SPDX-License-Identifier: Apache-2.0

internal import TidemarkPostgres
package import TidemarkService

/// Looks at the store at one moment after the other, on one connection.
///
/// Between two looks no snapshot is open, so PostgreSQL removes dead rows, however long the caller reads files. A connection
/// that was lost meanwhile is opened anew.
package final class SnapshotSeries: Sendable {
    private let pool: PostgresPool

    /// - Parameter storage: names the database, and the loop.
    package init(_ storage: PostgresStorage) throws(StorageError) {
        pool = try LongConnection.pool(storage, name: "tidemark-check")
    }

    /// Looks at what is stored now. No other look may be under way in the caller: it would wait for this one.
    ///
    /// - Parameter body: all that it reads is of one moment.
    package func look<Value>(_ body: (BackupSnapshot) async throws -> Value) async throws -> Value {
        let snapshot = try await BackupSnapshot.open(on: LongConnection(of: pool), holdsAssets: false)
        let result: Result<Value, any Error>
        do {
            result = .success(try await body(snapshot))
        } catch {
            result = .failure(error)
        }
        await snapshot.close()
        return try result.get()
    }

    /// Closes the connection. A look that is under way fails.
    package func close() async { await pool.stop(cancels: true) }
}
