// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkTestSupport

/// All devices of a user.
struct ClientFleet {
    let app: ClientDevice.App
    let devices: [ClientDevice]
    private let site: Site
    private let directory: TestDirectory

    /// How many devices a user has in the tests: two and five, and with `make client-programs` twenty.
    static let sizes = ProcessInfo.processInfo.environment["TIDEMARK_CLIENT_PROGRAMS"] == nil ? [2, 5] : allSizes
    /// Of the scenario of each program that always has twenty as well.
    static let allSizes = [2, 5, 20]

    /// Runs `body` with so many devices, in a container of their own.
    static func with(
        _ count: Int, _ app: ClientDevice.App, _ body: (ClientFleet) async throws -> Void
    ) async throws {
        let directory = try TestDirectory()
        defer { directory.remove() }
        let site = try await DevServer.shared()
        let devices = try (0..<count).map { try ClientDevice(app, "\($0)", site, directory) }
        try await body(ClientFleet(app: app, devices: devices, site: site, directory: directory))
    }

    subscript(index: Int) -> ClientDevice { devices[index] }

    func start(automatically: Bool = false, isOnline: Bool = true) throws {
        for device in devices { try device.start(automatically: automatically, isOnline: isOnline) }
    }

    /// Does something on all devices at once.
    func all(_ work: @escaping @Sendable (ClientDevice) async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for device in devices { group.addTask { try await work(device) } }
            try await group.waitForAll()
        }
    }

    /// Syncs all devices at once until nobody has anything to send, and once more, so that everybody has what the last one
    /// sent. Then all must be equal, and so must be a new device.
    func settle(_ location: SourceLocation = #_sourceLocation) async throws -> ClientDevice.Items {
        try await all { device in
            do {
                try await device.sync()
            } catch  where "\(error)".contains("error CKError(zoneNotFound ") {
                // whoever fetches a zone while it goes is told so, and hears of its deletion with the next fetch.
                try await device.sync()
            }
        }
        try await all { try await $0.sync() }
        let newcomer = try await newDevice()
        for device in devices {
            #expect(device.items == newcomer.items, "device \(device.name)", sourceLocation: location)
            #expect(device.pendingCount == 0, "device \(device.name)", sourceLocation: location)
        }
        return newcomer.items
    }

    /// A device that has never been seen before, with all that there is.
    func newDevice(account: String = "alice") async throws -> ClientDevice {
        let device = try ClientDevice(app, UUID().uuidString, site, directory)
        try device.start(account: account)
        try await device.sync()
        try await device.quit()
        return device
    }
}
