// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
package import TidemarkDomain
internal import TidemarkFairness
internal import TidemarkService

/// What one server knows of devices, for operators who ask why sync is stuck. The hubs of one process share it.
///
/// It is bounded. What the store has of devices that are gone leaves first. Then an account with as many devices as
/// one may have loses the one that it used longest ago. If there are too many in all, the account that has most loses one. If
/// no account has many, the one goes that was used longest ago of all.
///
/// No request waits for the store. What has changed is written in one statement for many devices, at most once in an
/// ``interval``.
package final class DeviceBook: Sendable {
    private struct State {
        var trails: FairCache<AccountDevice, DeviceTrail>
        /// When writing last began.
        var writtenAt: Duration?
    }

    /// This server, as operators know it: its host and process.
    package let server: String
    /// How often what has changed is written.
    package let interval: Duration
    private let devicesPerAccountMax: Int
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
        self.devicesPerAccountMax = devicesPerAccountMax
        state = Mutex(State(trails: FairCache(roomMax: devicesMax)))
    }

    /// How many devices are known here.
    package var count: Int { state.withLock { $0.trails.count } }

    /// What is known of a device; nil: nothing.
    package func progress(of device: AccountDevice) -> DeviceProgress? {
        state.withLock { $0.trails.value(of: device) }?.progress
    }

    /// Where to note what happens to a device, which counts as used now.
    ///
    /// - Parameter link: a connection that the device has from now on.
    func trail(of device: AccountDevice, opening link: DeviceLink? = nil, at now: Duration) -> DeviceTrail {
        let (trail, gaveWay) = state.withLock { state -> (DeviceTrail, [DeviceTrail]) in
            let (trail, gaveWay) = place(of: device, in: &state)
            // With the lock, so that a trail does not leave between being found and being opened.
            if let link { trail.opened(link) }
            return (trail, gaveWay)
        }
        for other in gaveWay { other.forget(at: now) }
        return trail
    }

    private func place(of device: AccountDevice, in state: inout State) -> (DeviceTrail, gaveWay: [DeviceTrail]) {
        if let trail = state.trails.use(device) { return (trail, []) }
        let (trail, owner) = (DeviceTrail(of: device), WorkOwner.account(device.account.rawValue))
        var gaveWay: [DeviceTrail] = []
        if state.trails.room(of: owner) >= devicesPerAccountMax, let oldest = state.trails.takeOldest(of: owner) {
            gaveWay.append(oldest)
        }
        gaveWay += state.trails.keep(trail, as: device, room: 1, of: owner)
        return (trail, gaveWay)
    }

    /// The device asks for something, so others give way before it.
    func use(_ device: AccountDevice) { _ = state.withLock { $0.trails.use(device) } }

    /// Writes what has changed to the store, unless that was done lately.
    ///
    /// - Parameter isLast: the server stops, so it is written now.
    func write(by service: CloudService, at now: Duration, isLast: Bool = false) async {
        let all = state.withLock { state -> [DeviceTrail] in
            // Each hub of the process comes at each interval.
            if !isLast, let writtenAt = state.writtenAt, now - writtenAt < interval / 2 { return [] }
            state.writtenAt = now
            return state.trails.values
        }
        let due = all.filter { $0.isDue(at: now) }
        for start in stride(from: 0, to: due.count, by: Self.devicesPerStatement) {
            let some = due[start..<min(start + Self.devicesPerStatement, due.count)]
            // Another server may know what this one does not.
            guard case .success(let kept) = await service.deviceProgress(of: some.map(\.of)) else { return }
            var progress: [AccountDevice: DeviceProgress] = [:]
            for trail in some { progress[trail.of] = trail.takeForWriting(kept[trail.of], at: now) }
            let isKept = await service.keepProgress(progress)
            some.forEach { $0.written(isKept) }
            guard isKept else { return }
        }
        for trail in all where trail.isAtRest { leave(trail, at: now) }
    }

    /// The store has what is known of a device that is gone. If the device comes back, its next writing takes that over.
    private func leave(_ trail: DeviceTrail, at now: Duration) {
        _ = state.withLock { state -> DeviceTrail? in
            // Another trail may have its place, or a connection may have come.
            guard state.trails.value(of: trail.of) === trail, trail.leave(at: now) else { return nil }
            return state.trails.take(trail.of)?.value
        }
    }
}
