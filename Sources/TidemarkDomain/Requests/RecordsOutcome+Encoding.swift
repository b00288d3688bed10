// SPDX-License-Identifier: Apache-2.0

extension RecordsOutcome {
    /// The outcome as a request memory stores it. Records that conflicted, or that the device must get, are left out;
    /// they are read again.
    ///
    /// Each number is stored as the difference to that of the item before, which is usually small: a dozen bytes for
    /// each save.
    package var encoded: [UInt8] {
        var writer = CompactWriter(capacity: 8 + saves.count * 24 + deletes.count)
        writer.write(MemoryFormat.recordsOutcome)
        writer.write(saves.count)
        writer.write(deletes.count)
        var previous = MetadataNumbers()
        for save in saves {
            switch save {
            case .saved(let metadata):
                let numbers = MetadataNumbers(metadata)
                writer.write(metadata.content.isKnown ? 0 : MemoryFormat.saveOfUnknown)
                numbers.write(after: previous, to: &writer)
                previous = numbers
            case .failed(let failure):
                writer.write(Int(failure.reason.rawValue))
            }
        }
        for delete in deletes {
            switch delete {
            case .deleted: writer.write(0)
            case .failed(let failure): writer.write(Int(failure.reason.rawValue))
            }
        }
        return writer.bytes
    }

    /// Nil if ``encoded`` does not produce these bytes.
    package init?(decoding bytes: [UInt8]) {
        var reader = CompactReader(bytes)
        guard reader.readNumber() == MemoryFormat.recordsOutcome, let saveCount = reader.readCount(),
            let deleteCount = reader.readCount()
        else { return nil }
        self.init(saves: [], deletes: [])
        var previous = MetadataNumbers()
        for _ in 0..<saveCount {
            guard let code = reader.readNumber() else { return nil }
            if code == 0 || code == MemoryFormat.saveOfUnknown {
                guard let numbers = previous.next(from: &reader) else { return nil }
                saves.append(.saved(numbers.metadata(code == 0 ? .known : .withheld)))
                previous = numbers
            } else {
                guard let reason = FailureReason(code: code) else { return nil }
                saves.append(.failed(ItemFailure(reason)))
            }
        }
        for _ in 0..<deleteCount {
            guard let code = reader.readNumber() else { return nil }
            if code == 0 {
                deletes.append(.deleted)
            } else {
                guard let reason = FailureReason(code: code) else { return nil }
                deletes.append(.failed(ItemFailure(reason)))
            }
        }
        guard reader.isAtEnd else { return nil }
    }
}

extension FailureReason {
    init?(code: UInt64) {
        guard let code = Int16(exactly: code) else { return nil }
        self.init(rawValue: code)
    }
}

/// The numbers in a record's metadata, in the order of writing.
private struct MetadataNumbers {
    private var zone: Int64 = 0
    private var changeNumber: Int64 = 0
    private var createdAt: Int64 = 0
    private var createdBy: Int64 = 0
    private var modifiedAt: Int64 = 0
    private var modifiedBy: Int64 = 0

    init() {}

    init(_ metadata: RecordMetadata) {
        zone = metadata.zone.rawValue
        changeNumber = metadata.changeNumber
        createdAt = metadata.createdAt.milliseconds
        createdBy = metadata.createdBy.rawValue
        modifiedAt = metadata.modifiedAt.milliseconds
        modifiedBy = metadata.modifiedBy.rawValue
    }

    func write(after previous: MetadataNumbers, to writer: inout CompactWriter) {
        writer.write(signed: zone &- previous.zone)
        writer.write(signed: changeNumber &- previous.changeNumber)
        writer.write(signed: createdAt &- previous.createdAt)
        writer.write(signed: createdBy &- previous.createdBy)
        writer.write(signed: modifiedAt &- previous.modifiedAt)
        writer.write(signed: modifiedBy &- previous.modifiedBy)
    }

    func next(from reader: inout CompactReader) -> MetadataNumbers? {
        guard let zone = reader.readSigned(), let changeNumber = reader.readSigned(),
            let createdAt = reader.readSigned(), let createdBy = reader.readSigned(),
            let modifiedAt = reader.readSigned(), let modifiedBy = reader.readSigned()
        else { return nil }
        var numbers = self
        numbers.zone &+= zone
        numbers.changeNumber &+= changeNumber
        numbers.createdAt &+= createdAt
        numbers.createdBy &+= createdBy
        numbers.modifiedAt &+= modifiedAt
        numbers.modifiedBy &+= modifiedBy
        return numbers
    }

    func metadata(_ content: SavedContent) -> RecordMetadata {
        RecordMetadata(
            zone: ZoneID(zone), changeNumber: changeNumber, createdAt: Timestamp(milliseconds: createdAt),
            createdBy: UserID(createdBy), modifiedAt: Timestamp(milliseconds: modifiedAt),
            modifiedBy: UserID(modifiedBy), content: content)
    }
}
