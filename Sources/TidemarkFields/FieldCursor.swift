// SPDX-License-Identifier: Apache-2.0

/// Where the parts of one entry are in the bytes of a map.
struct FieldLayout: Sendable {
    /// The whole entry, from its tag in `FieldMap` to its end.
    var start = 0
    var end = 0
    var keyStart = 0
    var keyEnd = 0
    var isEncrypted = false
    var typeCode: UInt8 = 0
    /// The value with its tag. It ends where the entry ends.
    var valueStart = 0

    /// Whether the entry removes its key.
    var isRemoval: Bool { typeCode == FieldType.removed.rawValue }

    /// Whether the value is a reference, an asset, or a list of these.
    var namesOthers: Bool {
        switch FieldType(rawValue: typeCode) {
        case .reference, .asset, .referenceList, .assetList: true
        default: false
        }
    }
}

/// Steps through the entries of a map. It trusts nothing, and checks each offset before it uses it.
struct FieldCursor {
    private(set) var current = FieldLayout()

    /// Moves to the next entry. False at the end, and at bytes that are not an entry.
    mutating func advance(in bytes: Span<UInt8>) -> Bool {
        (try? advanceOrThrow(in: bytes)) ?? false
    }

    /// Moves to the next entry. False at the end.
    mutating func advanceOrThrow(in bytes: Span<UInt8>) throws(FieldError) -> Bool {
        var offset = current.end
        guard offset < bytes.count else { return false }
        if let layout = Self.usualLayout(in: bytes, at: offset) {
            current = layout
            return true
        }
        var layout = FieldLayout()
        layout.start = offset
        try FieldWire.expect(FieldTag.FieldMap.fields, bytes, &offset, bytes.count)
        layout.end = try FieldWire.readLength(bytes, &offset, bytes.count)
        try FieldWire.expect(FieldTag.Field.key, bytes, &offset, layout.end)
        layout.keyEnd = try FieldWire.readLength(bytes, &offset, layout.end)
        layout.keyStart = offset
        offset = layout.keyEnd
        if offset < layout.end, bytes[offset] == FieldTag.Field.encrypted {
            offset += 1
            try FieldWire.expect(1, bytes, &offset, layout.end)
            layout.isEncrypted = true
        }
        try FieldWire.expect(FieldTag.Field.type, bytes, &offset, layout.end)
        let code = try FieldWire.readVarint(bytes, &offset, layout.end)
        guard code != 0 else { throw FieldError(.malformed, at: offset) }
        guard let typeCode = UInt8(exactly: code) else { throw FieldError(.unknownType, at: offset) }
        layout.typeCode = typeCode
        layout.valueStart = offset
        current = layout
        return true
    }

    /// Reads the usual form of an entry: plain, with lengths and type code of one byte each. Nil for all other entries, and for
    /// malformed ones. Those are then read byte by byte.
    @inline(__always)
    private static func usualLayout(in bytes: Span<UInt8>, at start: Int) -> FieldLayout? {
        guard bytes.count - start >= 6 else { return nil }
        // In bounds: six bytes were checked, and then the end of the entry.
        let length = bytes[unchecked: start + 1]
        let keyLength = bytes[unchecked: start + 3]
        let end = start + 2 + Int(length)
        let keyEnd = start + 4 + Int(keyLength)
        guard bytes[unchecked: start] == FieldTag.FieldMap.fields, bytes[unchecked: start + 2] == FieldTag.Field.key,
            length | keyLength < 0x80, end <= bytes.count, keyEnd + 2 <= end,
            bytes[unchecked: keyEnd] == FieldTag.Field.type
        else { return nil }
        let code = bytes[unchecked: keyEnd + 1]
        guard code != 0, code < 0x80 else { return nil }
        return FieldLayout(
            start: start, end: end, keyStart: start + 4, keyEnd: keyEnd, isEncrypted: false, typeCode: code,
            valueStart: keyEnd + 2)
    }

    /// Negative, zero or positive: this entry's key comes before the other's, is equal, or comes after it.
    func compareKey(in bytes: Span<UInt8>, with other: FieldCursor, in otherBytes: Span<UInt8>) -> Int {
        FieldWire.compare(
            bytes, current.keyStart, current.keyEnd, otherBytes, other.current.keyStart, other.current.keyEnd)
    }

    func compareKey(in bytes: Span<UInt8>, with key: Span<UInt8>) -> Int {
        FieldWire.compare(bytes, current.keyStart, current.keyEnd, key, 0, key.count)
    }
}
