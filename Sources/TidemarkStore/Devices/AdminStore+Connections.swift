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

    /// The most servers that are listed.
    static let serversMax = 10_000

    /// The servers that are connected to the database, of all versions.
    package func connectedServers() async throws(StorageError) -> [ListeningServer] {
        try await storage.read(sql.notices.listeners(Self.serversMax)).compactMap(ListeningServer.init(connection:))
    }

    /// The servers that are connected to the database and note devices, by the ``ListenerName/part(of:)`` of their names. A
    /// name is there as often as there are servers of that name.
    package func listeningServers() async throws(StorageError) -> [String] {
        try await connectedServers().map(\.name).filter { !$0.isEmpty }.sorted()
    }

    /// Asks all servers to write down what they know of devices. They answer by notices.
    package func ask(_ question: DeviceQuestion) async throws(StorageError) {
        try await storage.post([.devicesAsked(question)])
    }

    /// Tells all servers to close the connections of an account, or of one device of it. The devices may come back.
    package func closeConnections(of account: AccountID, _ device: DeviceID?) async throws(StorageError) {
        try await storage.post([.connectionsClosed(account, device)])
    }
}
