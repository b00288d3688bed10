// SPDX-License-Identifier: Apache-2.0

/// The first bytes of what is remembered: what it is, and in which version of its format.
enum MemoryFormat {
    static let memory: UInt64 = 0x11
    static let recordsOutcome: UInt64 = 0x21
    static let zonesOutcome: UInt64 = 0x31
}

extension RequestMemory {
    /// The memory as one value of one row.
    package var encoded: [UInt8] {
        var writer = CompactWriter()
        writer.write(MemoryFormat.memory)
        writer.write(lowestCounter)
        writer.write(outcomes.count)
        var previous: UInt64 = 0
        for (counter, outcome) in outcomes.sorted(by: { $0.key < $1.key }) {
            writer.write(counter - previous)
            writer.write(outcome)
            previous = counter
        }
        return writer.bytes
    }

    /// Nil for bytes that ``encoded`` does not give.
    package init?(decoding bytes: [UInt8]) {
        var reader = CompactReader(bytes)
        guard reader.readNumber() == MemoryFormat.memory, let lowest = reader.readNumber(),
            let count = reader.readCount()
        else { return nil }
        var outcomes: [UInt64: [UInt8]] = [:]
        outcomes.reserveCapacity(count)
        var previous: UInt64 = 0
        for index in 0..<count {
            guard let step = reader.readNumber(), index == 0 || step > 0, let outcome = reader.readContent() else {
                return nil
            }
            let (counter, overflows) = previous.addingReportingOverflow(step)
            if overflows { return nil }
            outcomes[counter] = outcome
            previous = counter
        }
        guard reader.isAtEnd else { return nil }
        self.init(lowestCounter: lowest, outcomes: outcomes)
    }
}
