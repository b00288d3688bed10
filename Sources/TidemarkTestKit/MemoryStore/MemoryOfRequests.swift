// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain

/// The remembered requests of a zone or a database, each with the epoch in which it was written.
struct MemoryOfRequests {
    private var kept: [DeviceID: (memory: RequestMemory, epoch: Int64)] = [:]

    subscript(life: DeviceID) -> RequestMemory? { kept[life]?.memory }

    mutating func keep(_ memories: [DeviceID: RequestMemory], epoch: Int64) {
        for (life, memory) in memories { kept[life] = (memory, epoch) }
    }

    /// Forgets outcomes that were written in this epoch or earlier.
    mutating func clear(through epoch: Int64) {
        kept = kept.filter { $0.value.epoch > epoch }
    }
}
