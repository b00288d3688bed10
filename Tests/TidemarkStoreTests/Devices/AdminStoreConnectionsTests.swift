// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkService
import TidemarkStore

@Suite struct AdminStoreConnectionsTests {
    @Test func `R-887: the last connections of devices come in pages, of all accounts or of one`() async throws {
        try await StoreFixture.run { fixture in
            let storage = try fixture.storage()
            let admin = AdminStore(storage)
            let now = Timestamp(milliseconds: 1_700_000_000_000)
            var devices: [AccountDevice] = []
            for name in ["alice", "bob"] {
                let account = try #require(try await admin.createAccount(name))
                for number in UInt64(1)...3 {
                    let device = AccountDevice(account: account, device: DeviceID(high: 1, low: number))
                    _ = try await storage.noteDevice(
                        device.device, of: account, name: "\(name) \(number)", from: "", atMost: 10, now: now)
                    devices.append(device)
                }
            }
            func progress(_ number: Int, ended: Bool) -> DeviceProgress {
                var progress = DeviceProgress()
                progress.link = DeviceLink(
                    server: "host \(number)", since: now, endedAt: ended ? now : nil,
                    credential: CredentialID(Int64(number)))
                return progress
            }
            // One device of each account was never noted.
            _ = try await storage.keepProgress(
                [
                    devices[0]: progress(0, ended: false), devices[1]: progress(1, ended: true),
                    devices[3]: progress(3, ended: false), devices[4]: progress(4, ended: false),
                ], over: [:], now: now)
            let all = try await admin.links(of: nil, after: nil, countMax: 10)
            #expect(all.map(\.of) == [devices[0], devices[1], devices[3], devices[4]])
            #expect(all.map(\.deviceName) == ["alice 1", "alice 2", "bob 1", "bob 2"])
            #expect(all.map { $0.link?.endedAt == nil } == [true, false, true, true])
            #expect(all.first?.link?.server == "host 0" && all.first?.notedAt == now && all.first?.account == "alice")
            let first = try await admin.links(of: nil, after: nil, countMax: 2)
            let second = try await admin.links(of: nil, after: first.last?.of, countMax: 2)
            #expect((first + second).map(\.of) == all.map(\.of))
            let bobs = try await admin.links(of: devices[3].account, after: nil, countMax: 10)
            #expect(bobs.map(\.of) == [devices[3], devices[4]])
            await storage.stop()
        }
    }
}
