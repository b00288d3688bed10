// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// The time of a ``TestCloud``, of its server and of its devices' engines. It stands still until a test moves it.
///
/// Work takes no time. Everything that waits uses this clock: retries and back-off, throttling, an
/// engine's fetch every quarter of an hour. Only short pauses pass on their own, once nothing else is left to
/// do. They have at most a quarter of a second, in which engines collect related work. So a few tenths of a second of
/// this clock mean nothing.
public final class TestClock: Sendable {
    private let loop: TestLoop

    init(_ loop: TestLoop) {
        self.loop = loop
    }

    /// The time from which records get their dates.
    public var now: Date { Date(timeIntervalSince1970: Double(loop.wallClockMilliseconds) / 1_000) }

    /// Sets the wall clock of the server and of all devices, forwards or back, as a person or a time server does. No
    /// time passes, and nothing becomes due. No change is lost; only dates are wrong (`docs/clocks.md`).
    public func set(to date: Date) {
        loop.setWallClock(milliseconds: Int64((date.timeIntervalSince1970 * 1_000).rounded()))
    }

    /// How much time has passed since the cloud was made.
    public var elapsed: Duration { loop.now }

    /// Moves the time on. Everything that becomes due on the way happens at its time. Returns when nothing is under way
    /// any more.
    ///
    /// - Throws: ``TestCloudError`` with `neverSettles` if the devices go on for thousands of pauses.
    public func advance(by duration: Duration) async throws {
        guard await loop.advance(by: duration) else { throw TestCloudError.neverSettles }
    }

    /// Moves the time to the next planned event, and lets it happen.
    ///
    /// - Returns: false if nothing is planned within `limit`; the time then does not change.
    /// - Throws: ``TestCloudError`` with `neverSettles` if the devices go on for thousands of pauses.
    @discardableResult
    public func advanceToNext(within limit: Duration = .seconds(3_600)) async throws -> Bool {
        guard await loop.settle() else { throw TestCloudError.neverSettles }
        guard loop.moveToNextTimer(by: loop.now + limit) else { return false }
        guard await loop.settle() else { throw TestCloudError.neverSettles }
        return true
    }
}
