// SPDX-License-Identifier: Apache-2.0

/// Identifies one request of one device, so that a repeated request gets the outcome of the first.
///
/// It consists of the device's life and a counter in that life. The nonce tells two processes apart that have the same
/// life. No part of it comes from a clock: setting a clock cannot make two requests the same or a new one look old.
package struct RequestID: Hashable, Sendable {
    /// The device, which two accounts may have: ``RecordsRequest/memoryDevice`` tells them apart.
    package let device: DeviceID
    /// The life of the device: 128 random bits that a process makes for its connection. Two copies of one
    /// device have two lives. A client that sends none has a single life, with the device's ID.
    package let life: DeviceID
    /// 1 for the first request of a life that changes data, then growing.
    package let counter: UInt64
    /// Random bits that the device made for this request. A repeat must bring them to get the outcome. 0 for a client
    /// that sends none.
    package let nonce: UInt64
    /// The lowest counter for which the device still waits. Outcomes below it may be forgotten.
    package let lowestUnanswered: UInt64
    /// Whether the device has sent the request before.
    package let isRepeated: Bool
    /// The store's memory epoch when the device first sent the request, as far as it knew. 0 for a client that knows no
    /// epochs.
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

/// The outcomes that one zone (for zone requests, one database) remembers for one life of a device: one row in storage.
///
/// It is bounded: each request names the device's lowest unanswered request, and everything below that is dropped.
package struct RequestMemory: Sendable, Equatable {
    /// Requests below it were answered, or were never seen here. A repeat of one is refused.
    package var lowestCounter: UInt64
    /// Encoded outcomes by counter (see `RecordsOutcome+Encoding`, `ZonesOutcome+Encoding`).
    package var outcomes: [UInt64: [UInt8]]
    /// The nonces of those requests, by counter. Requests without one are left out.
    package var nonces: [UInt64: UInt64]

    package init(
        lowestCounter: UInt64 = 0, outcomes: [UInt64: [UInt8]] = [:], nonces: [UInt64: UInt64] = [:]
    ) {
        self.lowestCounter = lowestCounter
        self.outcomes = outcomes
        self.nonces = nonces
    }
}
