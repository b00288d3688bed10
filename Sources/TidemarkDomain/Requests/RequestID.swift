// SPDX-License-Identifier: Apache-2.0

/// Names one request of one device, so that a repeated request gets the first one's outcome.
///
/// The name is the device's life and a counter in it. No part of it comes from a clock, so no clock that is set can make
/// two requests the same or make a new one look old.
package struct RequestID: Hashable, Sendable {
    /// Who is named as the maker of records and of client tokens.
    package let device: DeviceID
    /// The life of the device: 128 random bits that a process makes for its connection. Two copies of one device
    /// have two lives. A client that sends none has one life, which is its device.
    package let life: DeviceID
    /// 1 for the first request of a life that changes data, then growing.
    package let counter: UInt64
    /// The lowest counter that the device still waits for: outcomes below it may be forgotten.
    package let lowestUnanswered: UInt64
    /// Whether the device has sent it before.
    package let isRepeated: Bool
    /// The store's memory epoch when the device first sent it, as far as it knew. 0: a client that knows of no epochs, and
    /// does not say whether it repeats itself.
    package let epoch: Int64

    package init(
        device: DeviceID, life: DeviceID? = nil, counter: UInt64, lowestUnanswered: UInt64, isRepeated: Bool = false,
        epoch: Int64 = 0
    ) {
        self.device = device
        self.life = life ?? device
        self.counter = counter
        self.lowestUnanswered = lowestUnanswered
        self.isRepeated = isRepeated
        self.epoch = epoch
    }

    /// Whether the device says that it has not sent this before.
    package var isFirstSending: Bool { epoch > 0 && !isRepeated }
}

/// The outcomes that one zone (or, for zone requests, one database) remembers for one life of a device: one row in storage.
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
