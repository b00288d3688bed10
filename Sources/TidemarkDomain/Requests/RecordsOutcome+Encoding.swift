// SPDX-License-Identifier: Apache-2.0

extension RecordsOutcome {
    /// The outcome as a request memory keeps it: without the records that were in the way, which are read again.
    ///
    /// Numbers are differences to those of the item before, which are nearly always small: a dozen bytes a save.
    package var encoded: [UInt8] {
        var writer = CompactWriter()
        writer.write(MemoryFormat.recordsOutcome)
        writer.write(saves.count)
        writer.write(deletes.count)
        var previous = MetadataNumbers()
        for save in saves {
            switch save {
            case .saved(let metadata):
                let numbers = MetadataNumbers(metadata)
                writer.write(0)
                for (number, base) in zip(numbers.all, previous.all) { writer.write(signed: number &- base) }
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

    /// Nil for bytes that ``encoded`` does not give.
    package init?(decoding bytes: [UInt8]) {
        var reader = CompactReader(bytes)
        guard reader.readNumber() == MemoryFormat.recordsOutcome, let saveCount = reader.readCount(),
            let deleteCount = reader.readCount()
        else { return nil }
        self.init(saves: [], deletes: [])
        var previous = MetadataNumbers()
        for _ in 0..<saveCount {
            guard let code = reader.readNumber() else { return nil }
            if code == 0 {
                guard let numbers = previous.next(from: &reader) else { return nil }
                saves.append(.saved(numbers.metadata))
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

/// The numbers in a record's metadata, in the order in which they are written.
private struct MetadataNumbers {
    var all: [Int64]

    init() {
        all = [0, 0, 0, 0, 0, 0]
    }

    init(_ metadata: RecordMetadata) {
        all = [
            metadata.zone.rawValue, metadata.changeNumber, metadata.createdAt.milliseconds,
            metadata.createdBy.rawValue, metadata.modifiedAt.milliseconds, metadata.modifiedBy.rawValue,
        ]
    }

    func next(from reader: inout CompactReader) -> MetadataNumbers? {
        var numbers = self
        for index in all.indices {
            guard let difference = reader.readSigned() else { return nil }
            numbers.all[index] &+= difference
        }
        return numbers
    }

    var metadata: RecordMetadata {
        RecordMetadata(
            zone: ZoneID(all[0]), changeNumber: all[1], createdAt: Timestamp(milliseconds: all[2]),
            createdBy: UserID(all[3]), modifiedAt: Timestamp(milliseconds: all[4]), modifiedBy: UserID(all[5]))
    }
}
