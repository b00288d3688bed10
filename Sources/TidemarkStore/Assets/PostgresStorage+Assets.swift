// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
internal import TidemarkFields
internal import TidemarkPostgres
package import TidemarkService

extension PostgresStorage {
    package func keepAsset(_ asset: AssetKey, now: Timestamp) async throws(StorageError) {
        _ = try await write([
            AssetStatements.keep(
                .int8(asset.database.rawValue), .bytea(asset.content.sha256), .int8(asset.content.byteCount),
                .timestamp(milliseconds: now.milliseconds))
        ])
    }

    package func adoptAssets(_ assets: [AssetKey], now: Timestamp) async throws(StorageError) -> Int {
        let rows = try await write([
            AssetStatements.adopt(
                .int8Array(assets.map(\.database.rawValue)), .byteaArray(assets.map(\.content.sha256)),
                .int8Array(assets.map(\.content.byteCount)), .timestamp(milliseconds: now.milliseconds))
        ])
        return rows[0].count
    }

    package func unusedAssets(
        touchedBefore deadline: Timestamp, after last: AssetKey?, limit: Int
    ) async throws(StorageError) -> [AssetKey] {
        let rows = try await read(
            AssetStatements.unused(
                .timestamp(milliseconds: deadline.milliseconds), .int8(last?.database.rawValue ?? .min),
                .bytea(last?.content.sha256 ?? []), .int8(Int64(limit))))
        return try decode { () throws(PostgresError) in
            var assets: [AssetKey] = []
            for row in rows {
                let content = FieldAsset(sha256: try row.bytes(1), byteCount: try row.int64(2))
                assets.append(AssetKey(database: DatabaseID(try row.int64(0)), content: content))
            }
            return assets
        }
    }

    package func forgetAsset(
        _ asset: AssetKey, touchedBefore deadline: Timestamp, remove: @Sendable () async -> Bool
    ) async throws(StorageError) -> Bool {
        let lease = try await acquire()
        defer { release(lease) }
        let key: [PostgresValue] = [.int8(asset.database.rawValue), .bytea(asset.content.sha256)]
        do {
            let rows = try await lease.connection.execute([
                .begin, AssetStatements.lockOne.bind(key),
                AssetStatements.isStillUnused.bind(key + [.timestamp(milliseconds: deadline.milliseconds)]),
            ])
            guard !rows[2].isEmpty, await remove() else { return false }
            _ = try await lease.connection.execute([
                AssetStatements.forgetUses.bind(key), AssetStatements.forget.bind(key), .commit,
            ])
            return true
        } catch {
            throw StorageError(error, duringCommit: false)
        }
    }
}
