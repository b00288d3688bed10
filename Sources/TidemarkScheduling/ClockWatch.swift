// SPDX-License-Identifier: Apache-2.0

/// Notices that a wall clock was set ahead: for a while, what is old by that clock may be young.
///
/// For whoever removes what is older than some age by its date. It compares the wall clock with a steady one, each time
/// that it is asked.
package struct ClockWatch: Sendable {
    /// Milliseconds since 1970, and the time of the steady clock, when they were looked at last.
    private var wallClock: Int64
    private var steady: Duration
    /// On the steady clock.
    private var lastJump: Duration?

    /// A clock that is corrected a little, as NTP does, was not set.
    private static let toleranceMilliseconds: Int64 = 60_000

    package init(wallClock: Int64, steady: Duration) {
        self.wallClock = wallClock
        self.steady = steady
    }

    /// Whether what is older than `age` by the wall clock really is: not before it has gone on for so long since it was set.
    package mutating func canTell(age: Duration, wallClock: Int64, steady: Duration) -> Bool {
        let passed = Int64((steady - self.steady) / .milliseconds(1))
        if wallClock - self.wallClock > passed + Self.toleranceMilliseconds { lastJump = steady }
        (self.wallClock, self.steady) = (wallClock, steady)
        return lastJump.map { steady - $0 >= age } ?? true
    }
}
