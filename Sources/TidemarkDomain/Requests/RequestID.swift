// SPDX-License-Identifier: Apache-2.0

/// Names one request of one device, so that a repeated request gets the first one's outcome.
///
/// The name is the device's life and a counter in it; the nonce tells two who live the same life apart. No part of it comes
/// from a clock, so no clock that is set can make two requests the same or make a new one look old.
package struct RequestID: Hashable, Sendable {
    /// Who is named as the maker of records and of client tokens.
    package let device: DeviceID
    /// The life of the device: 128 random bits that a process makes for its connection. Two copies of one device
    /// have two lives. A client that sends none has one life, which is its device.
    package let life: DeviceID
    /// 1 for the first request of a life that changes data, then growing.
    package let counter: UInt64
    /// Random bits that the device made for this request: whoever asks for an outcome must know them. 0: a client that sends
    /// none.
    package let nonce: UInt64
    /// The lowest counter that the device still waits for: outcomes below it may be forgotten.
    package let lowestUnanswered: UInt64
    /// Whether the device has sent it before.
    package let isRepeated: Bool
    /// The store's memory epoch when the device first sent it, as far as it knew. 0: a client that knows of no epochs.
    package let epoch: Int64

    package init(
        device: DeviceID, life: DeviceID? = nil, counter: UInt64, nonce: UInt64 = 0, lowestUnanswered: UInt64,
        isRepeated: Bool = false, epoch: Int64 = 0
    ) {
        self.device = device
        self.life = life ?? device
        self.counter = counter
        self.nonce = nonce
        self.lowestUnanswered = lowestUnanswered
        self.isRepeated = isRepeated
        self.epoch = epoch
    }
}

/// The outcomes that one zone (or, for zone requests, one database) remembers for one life of a device: one row in storage.
///
/// Bounded: a device names its lowest unanswered request each time, and what is below is dropped.
package struct RequestMemory: Sendable, Equatable {
    /// Requests below it have been answered, or were never seen here; a repeat of one is refused.
    package var lowestCounter: UInt64
    /// Encoded outcomes by counter (see `RecordsOutcome+Encoding`, `ZonesOutcome+Encoding`).
    package var outcomes: [UInt64: [UInt8]]
    /// The nonces of those requests, by counter; a request that has none is not in it.
    package var nonces: [UInt64: UInt64]

    package init(
        lowestCounter: UInt64 = 0, outcomes: [UInt64: [UInt8]] = [:], nonces: [UInt64: UInt64] = [:]
    ) {
        self.lowestCounter = lowestCounter
        self.outcomes = outcomes
        self.nonces = nonces
    }
}
