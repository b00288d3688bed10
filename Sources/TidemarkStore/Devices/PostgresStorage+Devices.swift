// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
internal import TidemarkPostgres
package import TidemarkService

extension PostgresStorage {
    package func deviceProgress(
        of devices: [AccountDevice]
    ) async throws(StorageError) -> [AccountDevice: NotedProgress] {
        let rows = try await read(sql.devices.progress(devices))
        return Dictionary(rows.map { ($0.of, $0.noted) }) { $1 }
    }

    package func keepProgress(
        _ progress: [AccountDevice: DeviceProgress], over noted: [AccountDevice: Timestamp], now: Timestamp
    ) async throws(StorageError) -> Set<AccountDevice> {
        var rows: [KeptProgress] = []
        for (device, known) in progress {
            rows.append(KeptProgress(of: device, notedAt: noted[device] ?? now, bytes: known.encoded))
        }
        rows.sort { left, right in
            left.of.account == right.of.account
                ? left.of.device < right.of.device : left.of.account.rawValue < right.of.account.rawValue
        }
        // Sent twice, it keeps what the first sending kept, and says that it was too late.
        return Set(try await writeRepeatably(sql.devices.keep((rows, now))).rows)
    }
}
