// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkPostgres
package import TidemarkService

/// A database into which a backup is restored. From its beginning to its end the database has a mark: a table without
/// rows. While the mark is there, no server uses the database, and `tidemark migrate` refuses it.
package final class RestoreTarget: Sendable {
    private let storage: PostgresStorage
    private let connection: LongConnection

    /// The name of the mark.
    static let mark = "tidemark_restore_under_way"
    private static let relationsMax = 10_000

    private init(_ storage: PostgresStorage, _ connection: LongConnection) {
        (self.storage, self.connection) = (storage, connection)
    }

    /// - Throws: `zoneBusy` if somebody else restores into the database.
    package static func open(_ storage: PostgresStorage) async throws(StorageError) -> RestoreTarget {
        let connection = try await LongConnection(storage, name: "tidemark-restore")
        do throws(StorageError) {
            guard try await connection.run(sql.backup.holdDatabase()).rows == [true] else {
                throw StorageError(.zoneBusy, detail: "another restore into this database is under way")
            }
            return RestoreTarget(storage, connection)
        } catch {
            await connection.close()
            throw error
        }
    }

    /// Lets others restore into the database. The mark of a restore that was begun stays (``begin()``).
    package func close() async {
        // The end of the connection does it too, and PostgreSQL hears of that a moment later.
        _ = try? await connection.run(sql.backup.releaseDatabase())
        await connection.close()
    }

    /// PostgreSQL's version, and the name of the database.
    package func server() async throws(StorageError) -> (version: PostgresVersion, database: String) {
        guard let server = try await connection.run(sql.backup.postgres()).rows.first else {
            throw StorageError(.rejected, detail: "restore_server")
        }
        return (PostgresVersion(server.version), server.database)
    }

    /// What the database has.
    package struct Contents: Sendable, Equatable {
        /// The names of tables, views and sequences beside the mark.
        package let names: [String]
        /// Whether a restore has begun, and has not come to its end.
        package let isBegun: Bool
    }

    /// What the database has now, beside what belongs to PostgreSQL itself.
    package func contents() async throws(StorageError) -> Contents {
        let all = try await connection.run(sql.backup.relations(Self.relationsMax)).rows
        let others = all.filter { $0.schema != "public" || $0.name != Self.mark }
        return Contents(
            names: others.map { $0.schema == "public" ? $0.name : "\($0.schema).\($0.name)" },
            isBegun: others.count < all.count)
    }

    /// Makes the mark. What an earlier restore has left is dropped: it began in an empty database, so nothing else is
    /// there.
    package func begin() async throws(StorageError) {
        let tables = try await connection.run(sql.backup.relations(Self.relationsMax)).rows.filter {
            $0.schema == "public" && $0.isTable && $0.name != Self.mark
        }
        let isBegun = try await contents().isBegun
        // Somebody may have made tables since the caller looked.
        guard tables.isEmpty || isBegun else {
            throw StorageError(.rejected, detail: "the database is not empty any more")
        }
        let names = tables.map { "public.\(PostgresAdministration.quoted($0.name))" }.joined(separator: ", ")
        let drop = names.isEmpty ? "" : "DROP TABLE \(names) CASCADE;"
        try await connection.runScript("BEGIN; CREATE TABLE IF NOT EXISTS public.\(Self.mark) (); \(drop) COMMIT")
    }

    /// Takes the mark away. From then on servers use the database.
    package func finish() async throws(StorageError) {
        try await connection.runScript("DROP TABLE public.\(Self.mark)")
    }

    /// Applies the steps that a backup of an older version lacks.
    package func migrate() async throws -> [String] {
        try await Migrator(url: storage.url, loop: storage.loop, isRestoring: true).migrate()
    }

    /// Forgets assets that no record names: a backup does not have their files. Whoever was about to name one sends it
    /// again.
    package func forgetUnnamedAssets() async throws(StorageError) {
        try await connection.runScript(
            """
            BEGIN;
            CREATE TEMPORARY TABLE named_asset ON COMMIT DROP AS
            SELECT DISTINCT u.database_id, u.sha256
              FROM asset_use u JOIN zone z ON z.database_id = u.database_id AND z.id = u.zone_id AND z.removal IS NULL;
            DELETE FROM asset a
             WHERE NOT EXISTS (SELECT 1 FROM named_asset n WHERE n.database_id = a.database_id AND n.sha256 = a.sha256);
            DELETE FROM asset_use u
             WHERE NOT EXISTS (SELECT 1 FROM named_asset n WHERE n.database_id = u.database_id AND n.sha256 = u.sha256);
            UPDATE asset_total t
               SET byte_count = coalesce((SELECT sum(a.byte_count) FROM asset a WHERE a.database_id = t.database_id), 0);
            COMMIT
            """)
    }

    /// Does what ``AdminStore/renewIncarnation()`` does. It writes each zone, which takes long in a large store.
    package func renewIncarnation() async throws(StorageError) {
        _ = try await connection.run(
            Call.begin, sql.accounts.renewIncarnation(), sql.accounts.countZonesOn(),
            sql.accounts.moveZoneNumbers(ZoneID.gapBetweenLives), Call.commit)
    }

    /// Lets PostgreSQL collect statistics, without which it plans badly.
    package func analyze() async throws(StorageError) { try await connection.runScript("ANALYZE") }
}
