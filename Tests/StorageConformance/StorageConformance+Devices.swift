// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkService

extension StorageConformance {
    /// What servers know of devices.
    static let devices: [Scenario] = [
        Scenario("R-852: what a server keeps of devices another one reads, and writes over only if it has read it") {
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
            /// Each writing has another time.
            func time(_ seconds: Int64) -> Timestamp {
                Timestamp(milliseconds: StorageFixture.now.milliseconds + seconds * 1_000)
            }
            func progress(_ number: Int64) -> DeviceProgress {
                var progress = DeviceProgress()
                progress.told(
                    .database(DatabaseID(number)), asked: nil, to: number, at: Timestamp(milliseconds: number))
                return progress
            }
            func noted(_ number: Int64, at seconds: Int64) -> NotedProgress {
                NotedProgress(progress(number), at: time(seconds))
            }
            try expectEqual(
                try await store.first.keepProgress(
                    [devices[0]: progress(1), devices[2]: progress(3)], over: [:], now: time(1)),
                [devices[0], devices[2]], "both are new")
            try expectEqual(
                try await store.first.keepProgress([:], over: [:], now: time(1)), [], "nothing is to be kept")
            try expectEqual(
                try await store.second.deviceProgress(of: devices),
                [devices[0]: noted(1, at: 1), devices[2]: noted(3, at: 1)], "each device of each account has its own")
            try expectEqual(
                try await store.second.deviceProgress(of: [devices[2]]), [devices[2]: noted(3, at: 1)], "as asked")
            for late in [time(1), time(2)] {
                try expectEqual(
                    try await store.second.keepProgress(
                        [devices[0]: progress(4), devices[1]: progress(2)], over: [:], now: late),
                    late == time(1) ? [devices[1]] : [], "who has read nothing writes over nothing, also at once")
            }
            try expectEqual(
                try await store.second.keepProgress(
                    [devices[0]: progress(4), devices[1]: progress(5)],
                    over: [devices[0]: time(1), devices[1]: time(0)], now: time(3)),
                [devices[0]], "who has read what is there takes its place")
            try expectEqual(
                try await store.first.keepProgress(
                    [devices[0]: progress(6)], over: [devices[0]: time(1)], now: time(4)),
                [], "another server has written since")
            try expectEqual(
                try await store.first.deviceProgress(of: devices),
                [devices[0]: noted(4, at: 3), devices[1]: noted(2, at: 1), devices[2]: noted(3, at: 1)],
                "what is kept is whole")
        }
    ]
}
