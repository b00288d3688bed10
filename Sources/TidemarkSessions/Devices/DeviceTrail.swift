// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import TidemarkDomain

/// What a server knows of one device, while it serves it and for a while afterwards.
///
/// All connections of a device to one server have the same, on whichever event loops they are. Mostly they are on one, so
/// nobody waits for the lock. What is noted of a request costs a few stores, and no memory once the lists are full.
final class DeviceTrail: Sendable {
    private struct State {
        var progress = DeviceProgress()
        /// Whether something is known that the store does not have.
        var hasNews = false
        /// When it was last written to the store; nil: never.
        var writtenAt: Duration?
        /// Open connections.
        var openCount = 0
        /// When it gave way to another device's. Then it is written to the store no more.
        var forgottenAt: Duration?
    }

    let of: AccountDevice
    private let state = Mutex(State())

    init(of device: AccountDevice) { of = device }

    /// When it gave way; nil: it has not.
    var forgottenAt: Duration? { state.withLock { $0.forgottenAt } }

    func forget(at now: Duration) { state.withLock { $0.forgottenAt = now } }

    // MARK: Events

    /// Something happened to the device.
    ///
    /// - Parameter isNews: whether it is worth a write of its own.
    func note(isNews: Bool = true, _ event: (inout DeviceProgress) -> Void) {
        state.withLock { state in
            event(&state.progress)
            if isNews { state.hasNews = true }
        }
    }

    /// The device has another connection.
    func opened(_ link: DeviceLink) {
        state.withLock { state in
            state.openCount += 1
            state.progress.link = link
            state.hasNews = true
        }
    }

    /// One of its connections is gone.
    func closed(at now: Timestamp) {
        state.withLock { state in
            state.openCount -= 1
            guard state.openCount == 0 else { return }
            state.progress.link?.endedAt = now
            state.hasNews = true
        }
    }

    // MARK: Writing

    /// A device that is connected is written so often though nothing happens, so that its connection is believed.
    private static let sign = Duration.seconds(15 * 60)

    /// Whether the store should have what is known.
    func isDue(at now: Duration) -> Bool {
        state.withLock { state in
            guard state.forgottenAt == nil else { return false }
            return state.hasNews || (state.openCount > 0 && state.writtenAt.map { now - $0 >= Self.sign } ?? true)
        }
    }

    /// What to write, together with what another server has kept.
    func takeForWriting(_ kept: DeviceProgress?, at now: Duration) -> DeviceProgress {
        state.withLock { state in
            if let kept { state.progress.merge(kept) }
            (state.hasNews, state.writtenAt) = (false, now)
            return state.progress
        }
    }

    /// The store does not have it.
    func notWritten() { state.withLock { $0.hasNews = true } }

    /// What is known, for tests and for whoever asks this server.
    var progress: DeviceProgress { state.withLock { $0.progress } }
}
