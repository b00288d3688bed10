// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain

extension Fuzzer {
    /// A stored memory of a device's requests. It is read only if it is what we would write, and does no harm to the
    /// rules, whatever the next request is.
    static let requestMemory = Fuzzer(name: "request-memory", seeds: { MemorySeeds.memories }) {
        input throws(Finding) in
        var script = FuzzInput(input)
        let id = RequestID(
            device: DeviceID(high: 1, low: 2), counter: script.number(), nonce: 1,
            lowestUnanswered: script.number(),
            isRepeated: script.number() & 1 == 1, epoch: Int64(script.number() >> 1))
        // The store's own count, which no peer sets.
        let epoch = Int64(script.number() >> 20)
        let bytes = script.remainder()
        let decoded = RequestMemory(decoding: bytes)
        if let decoded {
            try Finding.unless(decoded.encoded == bytes, "read from \(bytes), written as \(decoded.encoded)")
        }
        guard id.isPlausible else { return decoded != nil }
        let memory = decoded ?? RequestMemory()
        _ = memory.recall(id, epoch: epoch, limits: .ofFuzzers)
        var after = memory
        after.remember([1, 2, 3], of: id, limits: .ofFuzzers)
        try Finding.unless(RequestMemory(decoding: after.encoded) == after, "\(after) is garbled")
        return decoded != nil
    }

    /// Remembered outcomes.
    static let outcomes = Fuzzer(name: "outcomes", seeds: { MemorySeeds.outcomes }) { input throws(Finding) in
        let records = RecordsOutcome(decoding: input)
        if let records {
            try Finding.unless(records.encoded == input, "read from \(input), written as \(records.encoded)")
        }
        let zones = ZonesOutcome(decoding: input)
        if let zones {
            try Finding.unless(zones.encoded == input, "read from \(input), written as \(zones.encoded)")
        }
        return records != nil || zones != nil
    }
}

private enum MemorySeeds {
    static let memories: [[UInt8]] = [
        memory(RequestMemory(), 5, 1),
        memory(RequestMemory(lowestCounter: 2, outcomes: [3: [1, 2], 4: [], 1_000_000: [9]]), 5, 1),
        memory(RequestMemory(lowestCounter: .max, outcomes: [.max: [0]]), .max, .max),
        memory(RequestMemory(lowestCounter: 1, outcomes: [0: [1], .max: [2]]), 7, 7),
        memory(RequestMemory(lowestCounter: 1, outcomes: [3: [1], 5: [2]], nonces: [5: .max]), 7, 7),
    ]

    private static func memory(_ memory: RequestMemory, _ counter: UInt64, _ lowest: UInt64) -> [UInt8] {
        FuzzScript().number(counter).number(lowest).number(1).number(2_000).number(3_000).adding(memory.encoded).bytes
    }

    static let outcomes: [[UInt8]] = [
        RecordsOutcome(saves: [], deletes: []).encoded,
        RecordsOutcome(
            saves: [.saved(metadata(1)), .failed(ItemFailure(.recordChanged)), .saved(metadata(.max, .withheld))],
            deletes: [.deleted, .failed(ItemFailure(.zoneNotFound))]
        ).encoded,
        ZonesOutcome(saves: [], deletes: []).encoded,
        ZonesOutcome(saves: [.done, .failed(.zoneNotFound)], deletes: [.done]).encoded,
    ]

    private static func metadata(_ number: ChangeNumber, _ content: SavedContent = .known) -> RecordMetadata {
        RecordMetadata(
            zone: ZoneID(11), changeNumber: number, createdAt: Timestamp(milliseconds: 1_700_000_000_000),
            createdBy: UserID(7), modifiedAt: Timestamp(milliseconds: .min), modifiedBy: UserID(-7),
            content: content)
    }
}
