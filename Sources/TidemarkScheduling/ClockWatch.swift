// SPDX-License-Identifier: Apache-2.0

/// Notices that a wall clock was set ahead: for a while, what looks old by that clock may be young.
///
/// For code that removes things by their dates. Each time that it is asked, it compares the wall clock with a steady
/// one.
package struct ClockWatch: Sendable {
    /// Milliseconds since 1970 at the last check; the next property is the time of the steady clock.
    private var wallClock: Int64
    private var steady: Duration
    /// The time of the last jump, on the steady clock.
    private var lastJump: Duration?

    /// A small correction, as by NTP, does not count as setting the clock.
    private static let toleranceMilliseconds: Int64 = 60_000

    package init(wallClock: Int64, steady: Duration) {
        self.wallClock = wallClock
        self.steady = steady
    }

    /// Whether something older than `age` by the wall clock really is that old. False until the clock has run for that
    /// long since it was set.
    package mutating func canTell(age: Duration, wallClock: Int64, steady: Duration) -> Bool {
        let passed = Int64((steady - self.steady) / .milliseconds(1))
        if wallClock - self.wallClock > passed + Self.toleranceMilliseconds { lastJump = steady }
        (self.wallClock, self.steady) = (wallClock, steady)
        return lastJump.map { steady - $0 >= age } ?? true
    }
}
