// SPDX-License-Identifier: Apache-2.0

import Glibc
import SessionTestSupport
import Testing
import TidemarkDomain
import TidemarkServer
import TidemarkStore
import TidemarkTestSupport
import TidemarkWire

/// The list of devices, which operators see and on which nothing depends, over TLS and PostgreSQL.
@Suite struct ForgottenDevicesTests {
    private static var now: Timestamp { Timestamp(milliseconds: Int64(Glibc.time(nil)) * 1_000) }

    private func devices(_ world: LiveWorld) async throws -> [String] {
        let account = try #require(try await world.admin.account(named: "alice"))
        return try await world.admin.devices(of: account).map(\.name)
    }

    private func note(_ number: UInt64, in world: LiveWorld, atMost countMax: Int = 1_000, at time: Timestamp)
        async throws
    {
        let account = try #require(try await world.admin.account(named: "alice"))
        try await world.storage.noteDevice(
            DeviceID(high: 7, low: number), of: account, name: "old \(number)", from: "", atMost: countMax, now: time)
    }

    private func time(daysAgo days: Int64) -> Timestamp {
        Timestamp(milliseconds: Self.now.milliseconds - days * 86_400_000)
    }

    @Test func `R-747: an account has a bounded list of devices, and the last seen stay`() async throws {
        try await withLiveWorld { world in
            for number in 1...5 {
                try await note(UInt64(number), in: world, atMost: 3, at: time(daysAgo: 9 - Int64(number)))
            }
            #expect(try await devices(world) == ["old 5", "old 4", "old 3"])
            // Whoever is known takes nobody's place.
            try await note(3, in: world, atMost: 3, at: time(daysAgo: 1))
            #expect(try await devices(world) == ["old 3", "old 5", "old 4"])
            try await note(6, in: world, atMost: 3, at: time(daysAgo: 0))
            #expect(try await devices(world) == ["old 6", "old 3", "old 5"])
        }
    }

    @Test func `R-747, R-211: a device that was not seen is forgotten, and its deletions still come`() async throws {
        try await withLiveWorld { world in
            try await note(1, in: world, at: time(daysAgo: 11))
            try await note(2, in: world, at: time(daysAgo: 9))
            func change(_ configuration: inout ServerConfiguration) {
                configuration.clearingInterval = .milliseconds(20)
                configuration.deviceAge = .seconds(10 * 86_400)
            }
            try await world.withServer(change) { server in
                let client = try await world.enter(server: server)
                try await client.makeZone("notes")
                try await client.save(["a", "b"], in: "notes")
                var deleting = try client.saving([], in: "notes")
                deleting.zones[0].deletes = ["a"]
                _ = try await client.ask(.modifyRecords(deleting))
                try await eventually {
                    try await self.devices(world) == ["device 1 (test/1)", "old 2"]
                }

                // As if the first device had not been seen since.
                let later = Timestamp(milliseconds: Self.now.milliseconds + 1_000_000)
                #expect(try await world.storage.forgetDevices(notSeenSince: later) == 2)
                let back = try await world.enter(server: server)
                #expect(try await devices(world) == ["device 1 (test/1)"])
                let all = try await back.ask(.fetchZoneChanges(TestClient.zoneChanges("notes"))).fetchZoneChanges
                #expect(all.changes.map(\.deleted.name).filter { !$0.isEmpty } == ["a"])
            }
        }
    }
}
