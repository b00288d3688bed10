// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkTestSupport

/// Apps that know nothing but CloudKit, and a server that goes back to a backup. They cannot know what the server lacks
/// before they save it.
@Suite(.timeLimit(.minutes(10))) struct RestoredProgramTests {
    /// Two devices do something before the backup and after it. Then the server goes back. One of them edits before it
    /// has fetched anything.
    ///
    /// - Parameter check: what both devices have in the end, and what a new device gets.
    private func restored(
        _ app: ClientDevice.App, before: (ClientDevice) async throws -> Void,
        since: (ClientDevice) async throws -> Void, after: (ClientDevice) async throws -> Void,
        then check: (_ devices: [ClientDevice], _ newcomer: ClientDevice) throws -> Void
    ) async throws {
        try await RestorableServer.with { server in
            let devices = try ["a", "b"].map { try ClientDevice(app, $0, server.site, server.directory) }
            for device in devices { try device.start() }
            try await before(devices[0])
            for device in devices { try await device.sync() }
            try await server.backUp()
            try await since(devices[0])
            for device in devices {
                try await device.sync()
                try await device.quit()
            }
            try await server.restore()

            let newcomer = try ClientDevice(app, "new", server.site, server.directory)
            for device in devices + [newcomer] { try device.start() }
            try await after(devices[1])
            for device in devices.reversed() + [newcomer] { try await device.sync() }
            try check(devices, newcomer)
            for device in devices + [newcomer] { try await device.quit() }
        }
    }

    @Test func `R-094, R-095, R-228: notes: edits are kept and sent again when the server went back to a backup`()
        async throws
    {
        try await restored(.notes) { device in
            for id in ["edited", "edited again", "kept"] { try await device.type("title", id, "Of the backup") }
        } since: { device in
            for id in ["edited", "edited again", "made", "made, and left alone"] {
                try await device.type("title", id, "Since")
            }
        } after: { device in
            for id in ["edited again", "kept", "made"] { try await device.type("body", id, "After") }
        } then: { devices, newcomer in
            func note(_ title: String, _ body: String) -> [String: String] {
                ["title": title, "body": body, "tags": ""]
            }
            let expected = [
                "edited": note("Since", ""), "edited again": note("Since", "After"),
                "kept": note("Of the backup", "After"), "made": note("Since", "After"),
            ]
            #expect(newcomer.items == expected)
            for device in devices {
                // CloudKit does not say what the server lacks, so nobody sends this before its next edit.
                let all = expected.merging(["made, and left alone": note("Since", "")]) { $1 }
                #expect(device.items == all, "\(device.name)")
                #expect(device.pendingCount == 0, "\(device.name)")
            }
        }
    }

    @Test func `R-094, R-095, R-228: contacts: edits are kept and sent again when the server went back to a backup`()
        async throws
    {
        try await restored(.contacts) { device in
            for id in ["edited", "edited again", "kept"] { try await device.type("save", id, "Ann", "1") }
        } since: { device in
            for id in ["edited", "edited again", "made", "made, and left alone"] {
                try await device.type("save", id, "Anna", "2")
            }
        } after: { device in
            for id in ["edited again", "kept", "made"] { try await device.type("save", id, "Annie", "3") }
        } then: { devices, newcomer in
            let (since, after) = (["name": "Anna", "phone": "2"], ["name": "Annie", "phone": "3"])
            let expected = ["edited": since, "edited again": after, "kept": after, "made": after]
            #expect(newcomer.items == expected)
            for device in devices {
                // CloudKit does not say what the server lacks, so nobody sends this before its next edit.
                let all = expected.merging(["made, and left alone": since]) { $1 }
                #expect(device.items == all, "\(device.name)")
                #expect(device.pendingCount == 0, "\(device.name)")
            }
        }
    }
}
