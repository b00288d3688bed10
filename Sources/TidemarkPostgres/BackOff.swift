// SPDX-License-Identifier: Apache-2.0

/// How long to wait before the next attempt to connect. The interval doubles each time, and is random so that processes
/// do not retry in step.
package struct BackOff: Sendable {
    package private(set) var failureCount = 0

    private static let firstMilliseconds = 50
    private static let lastMilliseconds = 2000

    package init() {}

    package mutating func reset() {
        failureCount = 0
    }

    /// Between half of the interval and all of it, by the given random bits.
    package mutating func next(randomBits: UInt64) -> Duration {
        let interval = min(Self.firstMilliseconds << min(failureCount, 10), Self.lastMilliseconds)
        failureCount += 1
        return .milliseconds(interval / 2 + Int(randomBits % UInt64(interval / 2 + 1)))
    }
}
