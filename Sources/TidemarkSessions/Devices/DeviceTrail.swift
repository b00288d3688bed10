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
        /// Whether anything is known that the store does not have, also what is not worth a write of its own.
        var hasChanged = false
        /// Whether a connection began or ended of which the store does not know.
        var hasLinkNews = false
        /// When it was last written to the store; nil: never.
        var writtenAt: Duration?
        /// Whether the store is being told what is known.
        var isBeingWritten = false
        /// Open connections.
        var openCount = 0
        /// When the device last asked for something, and the book was told so.
        var usedAt: Timestamp?
        /// When it gave way to another device's. Then it is written to the store no more.
        var forgottenAt: Duration?

        /// Whether the store has all of a device that is not here.
        var isAtRest: Bool { openCount == 0 && !hasNews && !isBeingWritten }
    }

    /// What follows from an event.
    enum Standing: Equatable {
        case kept
        /// The book must be told that the device is in use. That costs a lock of all loops, so it is done once a minute.
        case isToUse
        /// It has given way.
        case forgotten(Duration)
    }

    let of: AccountDevice
    private let state = Mutex(State())

    init(of device: AccountDevice) { of = device }

    func forget(at now: Duration) { state.withLock { $0.forgottenAt = now } }

    // MARK: Events

    /// In milliseconds.
    private static let useGap: Int64 = 60_000

    /// Something happened to the device.
    ///
    /// - Parameters:
    ///   - isNews: whether it is worth a write of its own.
    ///   - usedAt: when the device asked for something; nil: it did not.
    @discardableResult
    func note(
        isNews: Bool = true, usedAt: Timestamp? = nil, _ event: (inout DeviceProgress) -> Void
    ) -> Standing {
        state.withLock { state in
            event(&state.progress)
            state.hasChanged = true
            if isNews { state.hasNews = true }
            if let forgottenAt = state.forgottenAt { return .forgotten(forgottenAt) }
            guard let usedAt else { return .kept }
            // A clock may be set back.
            if let last = state.usedAt, (0..<Self.useGap).contains(usedAt.milliseconds - last.milliseconds) {
                return .kept
            }
            state.usedAt = usedAt
            return .isToUse
        }
    }

    /// The device has another connection.
    func opened(_ link: DeviceLink) {
        state.withLock { state in
            state.openCount += 1
            state.progress.link = link
            (state.hasNews, state.hasLinkNews) = (true, true)
        }
    }

    /// One of its connections is gone.
    func closed(at now: Timestamp) {
        state.withLock { state in
            state.openCount -= 1
            // Only one device has the identity from now on, whichever of them is gone.
            if state.openCount == 1, state.progress.link?.isDeviceTaken == true {
                state.progress.link?.isDeviceTaken = false
                (state.hasNews, state.hasLinkNews) = (true, true)
            }
            guard state.openCount == 0 else { return }
            state.progress.link?.endedAt = now
            (state.hasNews, state.hasLinkNews) = (true, true)
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

    /// What an operator wants to see of a device.
    enum Wish {
        case all
        /// Whether it is connected.
        case link
    }

    /// Whether something is wanted that the store does not have.
    func isDue(for wish: Wish) -> Bool {
        state.withLock { state in
            guard state.forgottenAt == nil else { return false }
            return switch wish {
            case .all: state.hasNews || state.hasChanged
            case .link: state.hasLinkNews
            }
        }
    }

    /// What to write, together with what another server has kept.
    func takeForWriting(_ kept: DeviceProgress?, at now: Duration) -> DeviceProgress {
        state.withLock { state in
            if let kept { state.progress.merge(kept) }
            (state.hasNews, state.isBeingWritten, state.writtenAt) = (false, true, now)
            (state.hasChanged, state.hasLinkNews) = (false, false)
            return state.progress
        }
    }

    /// The store has taken it, or has not.
    func written(_ isKept: Bool) {
        state.withLock { state in
            state.isBeingWritten = false
            if !isKept { (state.hasNews, state.hasLinkNews) = (true, true) }
        }
    }

    /// Whether nobody needs it.
    var isAtRest: Bool { state.withLock { $0.isAtRest } }

    /// It leaves the book, if nobody needs it.
    ///
    /// - Returns: whether it does.
    func leave(at now: Duration) -> Bool {
        state.withLock { state in
            guard state.isAtRest else { return false }
            state.forgottenAt = now
            return true
        }
    }

    /// What is known, for tests and for whoever asks this server.
    var progress: DeviceProgress { state.withLock { $0.progress } }
}
