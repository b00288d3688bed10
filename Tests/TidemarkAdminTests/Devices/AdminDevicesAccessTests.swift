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
        #expect(DeviceArgument(argument: "00000000-0000-0001")?.description == "0000000000000001")
        #expect(DeviceArgument(argument: "00000000")?.id == nil)
        for wrong in ["", "1", "0000000", "z" + Self.text.dropFirst(), Self.text + "00", "0000000٣"] {
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
            // Another whose digits begin alike.
            try await place.storage.noteDevice(
                DeviceID(high: 1, low: 0x1000_0000_0000_0000), of: account, name: "tablet", from: "", atMost: 9,
                now: Timestamp(milliseconds: 1_700_000_000_000))
            let several = try await place.perform("devices", "revoke", "alice", "0000000000000001")
            #expect(several.status == .refused && several.terminal.messages.contains("2 devices"))
            let none = try await place.perform("devices", "revoke", "alice", "00000002")
            #expect(none.status == .refused && none.terminal.messages.contains("no device 00000002"))
            let tablet = try await place.perform("devices", "revoke", "alice", "00000000000000011")
            #expect(tablet.terminal.messages == "Revoked 00000000000000011000000000000000.\n")
            let closed = try await place.perform("connections", "close", "alice", "000000000000000100")
            #expect(closed.terminal.messages.contains(Self.text), "\(closed.terminal.messages)")
            #expect(try await place.perform("devices", "delete", "alice", "000000000000000100").status == .ok)
            let missing = try await place.perform("devices", "delete", "alice", Self.text)
            #expect(missing.status == .refused)
            #expect(missing.terminal.messages.contains("tidemark admin devices list alice"))
        }
    }
}
