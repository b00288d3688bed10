// SPDX-License-Identifier: Apache-2.0

internal import TidemarkPostgres
package import TidemarkService

extension PostgresStorage {
    /// Whether the database has every migration of this program, unchanged. It may have newer ones: while a new version
    /// replaces this one, both serve. While a backup is restored into it, it has not.
    package func hasMigrations() async throws(StorageError) -> Bool {
        let (applied, restoring) = try await readAll(sql.migrations.list(), sql.migrations.restoring())
        return restoring.rows == [false] && applied.rows.starts(with: Migrations.all.map(\.checksum))
    }
}
