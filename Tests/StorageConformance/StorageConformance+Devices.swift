// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkService

extension StorageConformance {
    /// What servers know of devices.
    static let devices: [Scenario] = [
        Scenario("R-852: what a server keeps of devices another one reads, and the last one who wrote it wins") {
            store in
            let (alice, bob) = (try await store.alice().account, try await store.bob().account)
            let devices = [(alice, 1), (alice, 2), (bob, 1)].map { account, number in
                AccountDevice(account: account, device: DeviceID(high: 9, low: number))
            }
            for device in devices {
                try await store.first.noteDevice(
                    device.device, of: device.account, name: "phone", from: "", atMost: 1_000, now: StorageFixture.now)
            }
            try expectEqual(try await store.second.deviceProgress(of: devices), [:], "nothing at first")
            func progress(_ number: Int64) -> DeviceProgress {
                var progress = DeviceProgress()
                progress.told(
                    .database(DatabaseID(number)), asked: nil, to: number, at: Timestamp(milliseconds: number))
                return progress
            }
            try await store.first.keepProgress(
                [devices[0]: progress(1), devices[2]: progress(3)], now: StorageFixture.now)
            try await store.first.keepProgress([:], now: StorageFixture.now)
            try expectEqual(
                try await store.second.deviceProgress(of: devices), [devices[0]: progress(1), devices[2]: progress(3)],
                "each device of each account has its own")
            try expectEqual(
                try await store.second.deviceProgress(of: [devices[2]]), [devices[2]: progress(3)], "as asked")
            try await store.second.keepProgress(
                [devices[0]: progress(4), devices[1]: progress(2)], now: StorageFixture.now)
            try expectEqual(
                try await store.first.deviceProgress(of: devices),
                [devices[0]: progress(4), devices[1]: progress(2), devices[2]: progress(3)], "the last one wins")
        }
    ]
}
