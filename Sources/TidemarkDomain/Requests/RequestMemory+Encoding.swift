// SPDX-License-Identifier: Apache-2.0

/// The first bytes of a stored memory, which name its kind and the version of its format, and a number in it.
enum MemoryFormat {
    static let memory: UInt64 = 0x11
    static let recordsOutcome: UInt64 = 0x21
    static let zonesOutcome: UInt64 = 0x31

    /// In a ``RecordsOutcome``, instead of 0: a record that was saved, and whose content the device must get. It is not
    /// the reason of a failure, because those have 15 bits.
    static let saveOfUnknown: UInt64 = 0x8000
}

extension RequestMemory {
    /// The memory as one value of one row. The nonces follow the outcomes in the same order, 0 for none. If there are
    /// no nonces, nothing follows.
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
        if !nonces.isEmpty {
            for counter in outcomes.keys.sorted() { writer.write(nonces[counter] ?? 0) }
        }
        return writer.bytes
    }

    /// Nil if ``encoded`` does not produce these bytes.
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
        guard let nonces = Self.nonces(&reader, of: outcomes) else { return nil }
        self.init(lowestCounter: lowest, outcomes: outcomes, nonces: nonces)
    }

    private static func nonces(_ reader: inout CompactReader, of outcomes: [UInt64: [UInt8]]) -> [UInt64: UInt64]? {
        guard !reader.isAtEnd else { return [:] }
        var nonces: [UInt64: UInt64] = [:]
        for counter in outcomes.keys.sorted() {
            guard let nonce = reader.readNumber() else { return nil }
            if nonce != 0 { nonces[counter] = nonce }
        }
        return reader.isAtEnd && !nonces.isEmpty ? nonces : nil
    }
}
