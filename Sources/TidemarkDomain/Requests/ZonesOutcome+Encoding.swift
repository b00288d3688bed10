// SPDX-License-Identifier: Apache-2.0

extension ZonesOutcome {
    /// The outcome as a request memory stores it.
    package var encoded: [UInt8] {
        var writer = CompactWriter()
        writer.write(MemoryFormat.zonesOutcome)
        writer.write(saves.count)
        writer.write(deletes.count)
        for item in saves + deletes {
            switch item {
            case .done: writer.write(0)
            case .donePerZone: writer.write(Self.donePerZone)
            case .failed(let reason): writer.write(Int(reason.rawValue))
            }
        }
        return writer.bytes
    }

    /// Outside the range of failures, whose numbers are signed 16-bit integers.
    private static let donePerZone: UInt64 = 0x8000

    /// Nil if ``encoded`` does not produce these bytes.
    package init?(decoding bytes: [UInt8]) {
        var reader = CompactReader(bytes)
        guard reader.readNumber() == MemoryFormat.zonesOutcome, let saveCount = reader.readCount(),
            let deleteCount = reader.readCount()
        else { return nil }
        var items: [ZoneItemOutcome] = []
        for _ in 0..<saveCount + deleteCount {
            guard let code = reader.readNumber() else { return nil }
            if code == 0 {
                items.append(.done)
            } else if code == Self.donePerZone {
                items.append(.donePerZone)
            } else {
                guard let reason = FailureReason(code: code) else { return nil }
                items.append(.failed(reason))
            }
        }
        guard reader.isAtEnd else { return nil }
        self.init(saves: Array(items.prefix(saveCount)), deletes: Array(items.dropFirst(saveCount)))
    }
}
