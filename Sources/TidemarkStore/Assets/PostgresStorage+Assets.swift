// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
internal import TidemarkFields
internal import TidemarkPostgres
package import TidemarkService

extension PostgresStorage {
    package func keepAsset(_ asset: AssetKey, now: Timestamp) async throws(StorageError) {
        _ = try await write(sql.assets.keep((asset, now)))
    }

    package func adoptAssets(_ assets: [AssetKey], now: Timestamp) async throws(StorageError) -> Int {
        try await write(sql.assets.adopt((assets, now))).rows.count
    }

    package func unusedAssets(
        touchedBefore deadline: Timestamp, after last: AssetKey?, limit: Int
    ) async throws(StorageError) -> [AssetKey] {
        let (database, sha256) = (last?.database ?? DatabaseID(.min), last?.content.sha256 ?? [])
        return try await read(sql.assets.unused((deadline, database, sha256, limit)))
    }

    package func forgetAsset(
        _ asset: AssetKey, touchedBefore deadline: Timestamp, remove: @Sendable () async -> Bool
    ) async throws(StorageError) -> Bool {
        let lease = try await acquire()
        defer { release(lease) }
        do {
            let (_, _, unused) = try await lease.connection.run(
                Call.begin, sql.assets.lockOne(asset), sql.assets.isStillUnused((asset, deadline)))
            guard !unused.isEmpty, await remove() else { return false }
            _ = try await lease.connection.run(sql.assets.forgetUses(asset), sql.assets.forget(asset), Call.commit)
            return true
        } catch {
            throw StorageError(error, duringCommit: false)
        }
    }
}
