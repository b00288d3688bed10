// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
internal import TidemarkPostgres
package import TidemarkService

/// Connections of devices, over all servers.
extension AdminStore {
    /// The last connection of a device, as a server noted it.
    package struct KeptLink: Sendable {
        package let of: AccountDevice
        package let account: String
        package let deviceName: String
        /// By the server's clock.
        package let notedAt: Timestamp
        /// Nil: no server has noted one, or one of another version has.
        package let link: DeviceLink?
    }

    /// A page of the last connections, by account and device.
    ///
    /// - Parameters:
    ///   - account: nil: of all.
    ///   - device: only those after it; nil: from the beginning.
    package func links(
        of account: AccountID?, after device: AccountDevice?, countMax: Int
    ) async throws(StorageError) -> [KeptLink] {
        let start = device ?? AccountDevice(account: AccountID(.min), device: DeviceID(high: 0, low: 0))
        return try await storage.read(
            sql.devices.links((start, account?.rawValue ?? .min, account?.rawValue ?? .max, countMax)))
    }

    /// Tells all servers to close the connections of an account, or of one device of it. The devices may come back.
    package func closeConnections(of account: AccountID, _ device: DeviceID?) async throws(StorageError) {
        try await storage.post([.connectionsClosed(account, device)])
    }
}
