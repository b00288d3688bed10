// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkStore

@testable import TidemarkAdmin

@Suite struct AdminDevicesAccessTests {
    private static let text = "0000000000000001000000000000000a"

    @Test func `R-866: a device is read as the list shows it, or as a UUID`() {
        let id = DeviceID(high: 1, low: 10)
        #expect(DeviceArgument(argument: Self.text)?.id == id)
        #expect(DeviceArgument(argument: Self.text)?.description == Self.text)
        #expect(DeviceArgument(argument: "00000000-0000-0001-0000-00000000000A")?.id == id)
        for wrong in ["", "1", "z" + Self.text.dropFirst(), Self.text + "00"] {
            #expect(DeviceArgument(argument: wrong) == nil, "\(wrong)")
        }
    }

    @Test func `R-866: an operator revokes and forgets devices, and is told of those that are not there`() async throws
    {
        try await AdminPlace.run { place in
            _ = try await place.user("alice")
            let account = try #require(try await place.store.account(named: "alice"))
            try await place.storage.noteDevice(
                DeviceID(high: 1, low: 10), of: account, name: "phone", from: "", atMost: 9,
                now: Timestamp(milliseconds: 1_700_000_000_000))
            #expect(try await place.perform("devices", "revoke", "alice", Self.text, "--dry-run").status == .ok)
            #expect(try await place.store.devices(of: account).map(\.revokedAt) == [nil])
            #expect(try await place.perform("devices", "revoke", "alice", Self.text).status == .ok)
            let again = try await place.perform("devices", "revoke", "alice", Self.text)
            #expect(again.terminal.messages == "\(Self.text) was revoked already.\n")
            #expect(try await place.store.devices(of: account).first?.revokedAt != nil)
            #expect(try await place.perform("devices", "delete", "alice", Self.text).status == .ok)
            let missing = try await place.perform("devices", "delete", "alice", Self.text)
            #expect(missing.status == .refused)
            #expect(missing.terminal.messages.contains("tidemark admin devices list alice"))
        }
    }
}
