// SPDX-License-Identifier: Apache-2.0

internal import TidemarkPostgres
package import TidemarkService

extension PostgresStorage {
    /// Whether the database has every migration of this program, unchanged. It may have newer ones: while a new version
    /// replaces this one, both serve.
    package func hasMigrations() async throws(StorageError) -> Bool {
        try await read(sql.migrations.list()).starts(with: Migrations.all.map(\.checksum))
    }
}
