// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import TidemarkDomain

/// Counts the sessions of each account at all hubs of one process (I-7), and knows their devices.
final class AccountSessions: Sendable {
    /// One connection of one life of a device.
    private struct Connection: Hashable {
        let device: DeviceID
        let life: DeviceID
    }

    /// How many sessions each life of a device has, by account. A session whose connection was cut may still be there
    /// beside its successor.
    private let accounts = Mutex<[AccountID: [Connection: Int]]>([:])

    /// - Returns: how many sessions the account has now, and whether another life of the same device is connected. If
    ///   so, one of the two is a copy of the other.
    func add(_ account: AccountID, device: DeviceID, life: DeviceID) -> (count: Int, isDeviceTaken: Bool) {
        accounts.withLock { accounts in
            accounts[account, default: [:]][Connection(device: device, life: life), default: 0] += 1
            let connections = accounts[account] ?? [:]
            return (
                connections.values.reduce(0, +),
                connections.keys.contains { $0.device == device && $0.life != life }
            )
        }
    }

    func remove(_ account: AccountID, device: DeviceID, life: DeviceID) {
        accounts.withLock { accounts in
            let connection = Connection(device: device, life: life)
            guard let count = accounts[account]?[connection] else { return }
            accounts[account]?[connection] = count > 1 ? count - 1 : nil
            if accounts[account]?.isEmpty == true { accounts[account] = nil }
        }
    }
}
