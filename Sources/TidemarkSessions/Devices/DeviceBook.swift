// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
package import TidemarkDomain
internal import TidemarkFairness
internal import TidemarkService

/// What one server knows of devices, for operators who ask why sync is stuck. The hubs of one process share it.
///
/// It is bounded. If an account has as many devices here as one may have, or if there are too many in all, the one that was
/// used longest ago gives way: of that account, or of the account that has most. No request waits for the store:
/// what has changed is written in one statement for many devices, at most once in an ``interval``.
package final class DeviceBook: Sendable {
    private struct State {
        var table: FairTable<AccountDevice, DeviceTrail>
        /// When writing last began.
        var writtenAt: Duration?
    }

    /// This server, as operators know it: its host and process.
    package let server: String
    /// How often what has changed is written.
    package let interval: Duration
    private let state: Mutex<State>

    /// How many devices one statement writes. To put them together takes about a millisecond.
    private static let devicesPerStatement = 128

    /// - Parameters:
    ///   - devicesMax: how many are known, each with up to 3 KiB.
    ///   - devicesPerAccountMax: of one account. As many are listed of it (`Limits.devicesMax`).
    package init(
        server: String, interval: Duration = .seconds(60), devicesMax: Int = 8_192, devicesPerAccountMax: Int = 1_000
    ) {
        self.server = server
        self.interval = interval
        state = Mutex(State(table: FairTable(count: devicesMax, perOwner: min(devicesMax, devicesPerAccountMax))))
    }

    /// How many devices are known here.
    package var count: Int { state.withLock { $0.table.count } }

    /// What is known of a device; nil: nothing.
    package func progress(of device: AccountDevice) -> DeviceProgress? {
        state.withLock { state in
            state.table.values.first { $0.of == device }
        }?.progress
    }

    /// Where to note what happens to a device. Nil: there is no place for it.
    func trail(of device: AccountDevice, at now: Duration) -> DeviceTrail? {
        let (trail, gaveWay) = state.withLock { state -> (DeviceTrail?, [DeviceTrail]) in
            if let trail = state.table.use(device) { return (trail, []) }
            let trail = DeviceTrail(of: device)
            guard let gaveWay = state.table.insert(trail, for: device, of: .account(device.account.rawValue)) else {
                return (nil, [])
            }
            return (trail, gaveWay.map { $0.value })
        }
        for other in gaveWay { other.forget(at: now) }
        return trail
    }

    /// Writes what has changed to the store, unless that was done lately.
    ///
    /// - Parameter isLast: the server stops, so it is written now.
    func write(by service: CloudService, at now: Duration, isLast: Bool = false) async {
        let due = state.withLock { state -> [DeviceTrail] in
            // Each hub of the process comes at each interval.
            if !isLast, let writtenAt = state.writtenAt, now - writtenAt < interval / 2 { return [] }
            state.writtenAt = now
            return state.table.values.filter { $0.isDue(at: now) }
        }
        for start in stride(from: 0, to: due.count, by: Self.devicesPerStatement) {
            let some = due[start..<min(start + Self.devicesPerStatement, due.count)]
            // Another server may know what this one does not.
            guard case .success(let kept) = await service.deviceProgress(of: some.map(\.of)) else { return }
            var progress: [AccountDevice: DeviceProgress] = [:]
            for trail in some { progress[trail.of] = trail.takeForWriting(kept[trail.of], at: now) }
            guard await service.keepProgress(progress) else { return some.forEach { $0.notWritten() } }
        }
    }
}
