// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
internal import TidemarkFields
internal import TidemarkPostgres
package import TidemarkService

/// How the store is, for `tidemark admin stats` and `doctor`. What reads much does so on a connection of its own, which has
/// no bound of time for a statement.
extension AdminStore {
    /// What each container holds, in numbers. It reads all zones, and takes as long as that takes.
    package func containerCounts() async throws(StorageError) -> [ContainerCounts] {
        try await storage.writeRepeatably(sql.health.containers()).rows
    }

    /// The accounts that hold the most bytes, largest first.
    package func largestAccounts(_ countMax: Int) async throws(StorageError) -> [AccountUseRow] {
        try await storage.writeRepeatably(sql.health.accounts(countMax)).rows
    }

    /// Tables and indexes, largest first.
    package func relations() async throws(StorageError) -> [RelationSize] {
        try await storage.read(sql.health.relations())
    }

    /// PostgreSQL's version, settings and size, and its clock.
    package func databaseFacts() async throws(StorageError) -> DatabaseFacts {
        let (server, settings) = try await storage.readAll(
            sql.health.server(), sql.health.settings(Self.settingNames))
        guard let facts = server.rows.first else { throw StorageError(.rejected, detail: "database_facts") }
        return DatabaseFacts(
            version: facts.version,
            settings: Dictionary(settings.rows.map { ($0.name, $0.value) }) { first, _ in first }, now: facts.now,
            byteCount: facts.byteCount, connectionCount: facts.connections, oldestTransactionSeconds: facts.oldest)
    }

    /// NB: `synchronous_commit` is set by each connection of the store. It is off only if something on the way undoes that.
    private static let settingNames = [
        "fsync", "full_page_writes", "max_connections", "autovacuum", "shared_buffers", "wal_level", "server_encoding",
        "superuser_reserved_connections", "data_checksums", "synchronous_commit",
    ]

    /// Zones with what is counted and what is there.
    ///
    /// - Returns: none if there are no more.
    package func zoneSums(
        after place: (database: DatabaseID, zone: ZoneID)?
    ) async throws(StorageError) -> [ZoneSums] {
        let place = place ?? (DatabaseID(.min), ZoneID(.min))
        return try await storage.writeRepeatably(
            sql.health.zoneSums((place.database, place.zone, Self.zonesOfStep))
        ).rows
    }

    private static let zonesOfStep = 100

    /// Databases whose assets sum up to something else than is counted.
    package func wrongAssetTotals(
        _ countMax: Int
    ) async throws(StorageError) -> [(database: DatabaseID, counted: Int64, sum: Int64)] {
        try await storage.writeRepeatably(sql.health.assetTotals(countMax)).rows
    }

    /// Assets by their keys, a page at a time.
    package func assets(after asset: AssetKey?, countMax: Int) async throws(StorageError) -> [AssetKey] {
        try await storage.read(
            sql.health.assets((asset?.database ?? DatabaseID(.min), asset?.content.sha256 ?? [], countMax)))
    }

    /// Those among these that have a row.
    package func knownAssets(among assets: [AssetKey]) async throws(StorageError) -> Set<AssetKey> {
        Set(try await storage.read(sql.health.knownAssets(assets)))
    }

    /// Credentials that have expired, and those that do so within a week. Revoked ones do not count.
    package func expiringCredentials() async throws(StorageError) -> (expired: Int, soon: Int) {
        try await storage.read(sql.health.credentials()).first ?? (0, 0)
    }
}
