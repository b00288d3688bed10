// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
internal import TidemarkFields
internal import TidemarkPostgres
package import TidemarkService

/// The store at one moment: a transaction that sees one snapshot of the database. `pg_dump` can read the same one.
///
/// If it holds assets, no file of an asset is removed while it is open, so the files are those of that moment, and
/// more. Nobody else holds them then. The hold ends with the connection: when the process ends, and ten minutes after its
/// last statement, if it does not run any more.
package final class BackupSnapshot: Sendable {
    private let connection: LongConnection
    /// For `pg_dump --snapshot`.
    package let name: String

    private static let zonesOfStep = 100
    private static let recordsOfStep = 100_000

    private let holdsAssets: Bool

    private init(_ connection: LongConnection, name: String, holdsAssets: Bool) {
        (self.connection, self.name, self.holdsAssets) = (connection, name, holdsAssets)
    }

    /// - Throws: `zoneBusy` if another backup holds the assets.
    package static func open(_ storage: PostgresStorage, holdsAssets: Bool) async throws(StorageError) -> BackupSnapshot
    {
        try await open(on: try await LongConnection(storage, name: "tidemark-backup"), holdsAssets: holdsAssets)
    }

    /// - Parameter connection: is closed with the snapshot.
    static func open(
        on connection: LongConnection, holdsAssets: Bool
    ) async throws(StorageError) -> BackupSnapshot {
        do throws(StorageError) {
            // Before the snapshot: what was removed until then is not in it.
            if holdsAssets { _ = try await connection.run(sql.backup.holdAssets()) }
            let (_, name) = try await connection.run(Call.beginSnapshot, sql.backup.exportSnapshot())
            guard let name = name.rows.first else { throw StorageError(.rejected, detail: "export_snapshot") }
            return BackupSnapshot(connection, name: name, holdsAssets: holdsAssets)
        } catch {
            await connection.close()
            throw error
        }
    }

    /// Ends the snapshot, and lets servers remove assets again. Nothing can be read from it any more.
    package func close() async {
        // The end of the connection releases them too, and PostgreSQL hears of that a moment later.
        if holdsAssets { _ = try? await connection.run(sql.backup.releaseAssets()) }
        await connection.close()
    }

    /// Call it from time to time while nothing is read. It fails if the snapshot is lost.
    package func keepAlive() async throws(StorageError) { _ = try await connection.run(sql.backup.keepAlive()) }

    /// What a backup says of the store as a whole, at the moment of the snapshot.
    package func facts() async throws(StorageError) -> BackupFacts {
        guard let facts = try await connection.run(sql.backup.facts()).rows.first else {
            throw StorageError(.rejected, detail: "backup_facts")
        }
        return facts
    }

    /// The steps of the tables that were applied, by their numbers.
    package func migrations() async throws(StorageError) -> [AppliedMigration] {
        try await connection.run(sql.backup.migrations()).rows
    }

    /// What each container holds, in numbers.
    package func contents() async throws(StorageError) -> [BackedUpContainer] {
        try await connection.run(sql.backup.contents()).rows
    }

    /// Assets by their keys, a page at a time: those that records name, and others with the time since which none does.
    package func assets(
        after asset: AssetKey?, countMax: Int
    ) async throws(StorageError) -> [BackedUpAsset] {
        try await connection.run(
            sql.backup.assets((asset?.database ?? DatabaseID(.min), asset?.content.sha256 ?? [], countMax))
        ).rows
    }

    /// Whether a living zone's record names the asset.
    package func isNamed(_ asset: AssetKey) async throws(StorageError) -> Bool {
        try await connection.run(sql.backup.isNamed(asset)).rows == [true]
    }

    func run<Row>(_ call: Call<Row>) async throws(StorageError) -> [Row] { try await connection.run(call).rows }

    /// Living zones by their keys, a page at a time, compared with their records.
    ///
    /// - Returns: none if there are no more.
    package func zones(
        after place: (database: DatabaseID, zone: ZoneID)?
    ) async throws(StorageError) -> [ZoneCheck] {
        let place = place ?? (DatabaseID(.min), ZoneID(.min))
        var checks: [ZoneCheck] = []
        for zone in try await connection.run(sql.backup.zones((place.database, place.zone, Self.zonesOfStep))).rows {
            checks.append(try await check(zone))
        }
        return checks
    }

    private func check(_ zone: CheckedZoneRow) async throws(StorageError) -> ZoneCheck {
        var (newest, byteSum, tombstoneSum, living) = (ChangeNumber(0), Int64(0), Int64(0), 0)
        var digest = ZoneDigestBits()
        var place: String? = ""
        while let after = place {
            // Whoever asked may be gone, and nobody else ends this connection.
            guard !Task.isCancelled else { throw StorageError(.stopped) }
            let parts = try await connection.run(
                sql.backup.zonePart((zone.key.database, zone.id, after, Self.recordsOfStep))
            ).rows
            guard let part = parts.first else { throw StorageError(.rejected, detail: "zone_part_sums") }
            newest = max(newest, part.newest)
            byteSum += part.byteSum
            tombstoneSum += part.tombstoneSum
            living += part.living
            digest.combine(part.digest)
            place = part.rows == Self.recordsOfStep ? part.last : nil
        }
        return ZoneCheck(
            sums: ZoneSums(
                key: zone.key, id: zone.id, head: zone.head, newestChange: newest, byteCount: zone.byteCount,
                byteSum: byteSum, tombstoneBytes: zone.tombstoneBytes, tombstoneSum: tombstoneSum),
            recordCount: zone.recordCount, recordSum: living, digest: zone.hasDigest ? zone.digest : nil,
            digestSum: digest)
    }
}
