// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkPostgres
package import TidemarkService

/// What an operator sees and repairs, for `tidemark admin` and `tidemark dev`. What it does for a noun is in the noun's
/// folder.
package struct AdminStore: Sendable {
    let storage: PostgresStorage

    package init(_ storage: PostgresStorage) {
        self.storage = storage
    }

    /// Makes all existing tokens and tags void, after a restore from a backup. Versions saved from then on can
    /// be told from those of the backup.
    package func renewIncarnation() async throws(StorageError) {
        _ = try await storage.write(
            sql.accounts.renewIncarnation(), sql.accounts.countZonesOn(),
            sql.accounts.moveZoneNumbers(ZoneID.gapBetweenLives))
    }
}
