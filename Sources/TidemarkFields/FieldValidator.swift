// SPDX-License-Identifier: Apache-2.0

/// Checks that bytes are a canonical ``FieldMap``, without decoding its values.
enum FieldValidator {
    /// - Returns: whether there are references or assets, and encrypted values.
    static func validate(
        _ bytes: Span<UInt8>, keys: FieldKeyRule
    ) throws(FieldError) -> (namesOthers: Bool, hasEncryptedValues: Bool) {
        var namesOthers = false
        var hasEncryptedValues = false
        var cursor = FieldCursor()
        var previous = cursor
        var isFirst = true
        while try cursor.advanceOrThrow(in: bytes) {
            let layout = cursor.current
            guard keys.allows(bytes, layout.keyStart, layout.keyEnd) else {
                throw FieldError(.badKey, at: layout.keyStart)
            }
            if !isFirst {
                let order = previous.compareKey(in: bytes, with: cursor, in: bytes)
                if order == 0 { throw FieldError(.duplicateKey, at: layout.keyStart) }
                if order > 0 { throw FieldError(.unsorted, at: layout.keyStart) }
            }
            try validateValue(bytes, layout)
            previous = cursor
            isFirst = false
            if layout.namesOthers { namesOthers = true }
            if layout.isEncrypted { hasEncryptedValues = true }
        }
        return (namesOthers, hasEncryptedValues)
    }

    private static func validateValue(_ bytes: Span<UInt8>, _ layout: FieldLayout) throws(FieldError) {
        var offset = layout.valueStart
        let end = layout.end
        guard let type = FieldType(rawValue: layout.typeCode) else { throw FieldError(.unknownType, at: offset) }
        switch type {
        case .removed, .emptyList:
            break
        case .int64:
            try FieldWire.expect(FieldTag.Field.int64, bytes, &offset, end)
            _ = try FieldWire.readVarint(bytes, &offset, end)
        case .date:
            _ = try FieldWire.readDate(FieldTag.Field.date, orExact: FieldTag.Field.exactDate, bytes, &offset, end)
        case .double:
            try FieldWire.expect(FieldTag.Field.double, bytes, &offset, end)
            guard end - offset >= 8 else { throw FieldError(.truncated, at: offset) }
            offset += 8
        case .string:
            try FieldWire.expect(FieldTag.Field.string, bytes, &offset, end)
            try validateElement(.string, bytes, &offset, end)
        case .bytes:
            try FieldWire.expect(FieldTag.Field.bytes, bytes, &offset, end)
            try validateElement(.bytes, bytes, &offset, end)
        case .reference:
            try FieldWire.expect(FieldTag.Field.reference, bytes, &offset, end)
            try validateElement(.reference, bytes, &offset, end)
        case .asset:
            try FieldWire.expect(FieldTag.Field.asset, bytes, &offset, end)
            try validateElement(.asset, bytes, &offset, end)
        case .location:
            try FieldWire.expect(FieldTag.Field.location, bytes, &offset, end)
            try validateElement(.location, bytes, &offset, end)
        case .stringList, .int64List, .doubleList, .dateList, .bytesList, .referenceList, .assetList,
            .locationList:
            try FieldWire.expect(FieldTag.Field.list, bytes, &offset, end)
            let listEnd = try FieldWire.readLength(bytes, &offset, end)
            try validateList(of: type.element ?? type, bytes, &offset, listEnd)
        }
        guard offset == end else { throw FieldError(.malformed, at: offset) }
    }

    private static func validateList(
        of element: FieldType, _ bytes: Span<UInt8>, _ offset: inout Int, _ end: Int
    ) throws(FieldError) {
        if element == .date, offset < end, bytes[offset] == FieldTag.List.exactDates {
            _ = try FieldReader.exactDates(bytes, &offset, end)
            return
        }
        // At least one element. A list without elements has its own type code.
        repeat {
            try FieldWire.expect(FieldWire.elementTag(element), bytes, &offset, end)
            switch element {
            case .int64, .date:
                let packedEnd = try FieldWire.readLength(bytes, &offset, end)
                guard packedEnd == end, offset < end else { throw FieldError(.malformed, at: offset) }
                while offset < end { _ = try FieldWire.readVarint(bytes, &offset, end) }
            case .double:
                let packedEnd = try FieldWire.readLength(bytes, &offset, end)
                guard packedEnd == end, offset < end, (end - offset) % 8 == 0 else {
                    throw FieldError(.malformed, at: offset)
                }
                offset = end
            default:
                try validateElement(element, bytes, &offset, end)
            }
        } while offset < end
    }

    /// Reads a value that has a length. Its tag was read before.
    @inline(__always)
    private static func validateElement(
        _ type: FieldType, _ bytes: Span<UInt8>, _ offset: inout Int, _ end: Int
    ) throws(FieldError) {
        let valueEnd = try FieldWire.readLength(bytes, &offset, end)
        switch type {
        case .string:
            guard UTF8Check.isValid(bytes, offset, valueEnd) else { throw FieldError(.badValue, at: offset) }
            offset = valueEnd
        case .reference:
            _ = try FieldReader.referenceLayout(bytes, &offset, valueEnd)
        case .asset:
            _ = try FieldReader.assetLayout(bytes, &offset, valueEnd)
        case .location:
            try FieldReader.checkLocation(bytes, &offset, valueEnd)
        default:
            offset = valueEnd
        }
    }
}
