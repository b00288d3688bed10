// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
internal import TidemarkPostgres
package import TidemarkService

extension PostgresStorage {
    package func deviceProgress(
        of devices: [AccountDevice]
    ) async throws(StorageError) -> [AccountDevice: DeviceProgress] {
        let rows = try await read(sql.devices.progress(devices))
        return Dictionary(rows.compactMap { row in row.progress.map { (row.of, $0) } }) { $1 }
    }

    package func keepProgress(
        _ progress: [AccountDevice: DeviceProgress], now: Timestamp
    ) async throws(StorageError) {
        let rows = progress.map { KeptProgress(of: $0.key, bytes: $0.value.encoded) }.sorted { left, right in
            left.of.account == right.of.account
                ? left.of.device < right.of.device : left.of.account.rawValue < right.of.account.rawValue
        }
        _ = try await writeRepeatably(sql.devices.keep((rows, now)))
    }
}
