// SPDX-License-Identifier: Apache-2.0

/// Names one request of one device, so that a repeated request gets the first one's outcome.
package struct RequestID: Hashable, Sendable {
    package let device: DeviceID
    /// 1 for a device's first request that changes data, then growing.
    package let counter: UInt64
    /// The lowest counter that the device still waits for: outcomes below it may be forgotten.
    package let lowestUnanswered: UInt64
    /// When the device first sent it, in the server's time as the device knows it.
    package let issuedAt: Timestamp

    package init(device: DeviceID, counter: UInt64, lowestUnanswered: UInt64, issuedAt: Timestamp) {
        self.device = device
        self.counter = counter
        self.lowestUnanswered = lowestUnanswered
        self.issuedAt = issuedAt
    }
}

/// The outcomes that one zone (or, for zone requests, one database) remembers for one device: one row in storage.
///
/// Bounded: a device names its lowest unanswered request each time, and what is below is dropped.
package struct RequestMemory: Sendable, Equatable {
    /// Requests below it have been answered, or were never seen here; a repeat of one is refused.
    package var lowestCounter: UInt64
    /// Encoded outcomes by counter (see `RecordsOutcome+Encoding`, `ZonesOutcome+Encoding`).
    package var outcomes: [UInt64: [UInt8]]

    package init(lowestCounter: UInt64 = 0, outcomes: [UInt64: [UInt8]] = [:]) {
        self.lowestCounter = lowestCounter
        self.outcomes = outcomes
    }
}
