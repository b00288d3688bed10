// SPDX-License-Identifier: Apache-2.0

/// Where the parts of one entry lie in the bytes of a map.
struct FieldLayout: Sendable {
    /// The whole entry, from the tag that it begins with in `FieldMap` to its end.
    var start = 0
    var end = 0
    var keyStart = 0
    var keyEnd = 0
    var isEncrypted = false
    var typeCode: UInt8 = 0
    /// The value with its own tag; it ends where the entry ends.
    var valueStart = 0

    /// Whether the value is a reference or an asset, or several.
    var namesOthers: Bool {
        switch FieldType(rawValue: typeCode) {
        case .reference, .asset, .referenceList, .assetList: true
        default: false
        }
    }
}

/// Steps through the entries of a map. Trusts nothing: every offset is checked before it is used.
struct FieldCursor {
    private(set) var current = FieldLayout()

    /// Goes to the next entry; false at the end, and at bytes that are no entry.
    mutating func advance(in bytes: Span<UInt8>) -> Bool {
        (try? advanceOrThrow(in: bytes)) ?? false
    }

    /// Goes to the next entry; false at the end.
    mutating func advanceOrThrow(in bytes: Span<UInt8>) throws(FieldError) -> Bool {
        var offset = current.end
        guard offset < bytes.count else { return false }
        var layout = FieldLayout()
        layout.start = offset
        try FieldWire.expect(FieldWire.entryTag, bytes, &offset, bytes.count)
        layout.end = try FieldWire.readLength(bytes, &offset, bytes.count)
        try FieldWire.expect(FieldWire.keyTag, bytes, &offset, layout.end)
        layout.keyEnd = try FieldWire.readLength(bytes, &offset, layout.end)
        layout.keyStart = offset
        offset = layout.keyEnd
        if offset < layout.end, bytes[offset] == FieldWire.encryptedTag {
            offset += 1
            try FieldWire.expect(1, bytes, &offset, layout.end)
            layout.isEncrypted = true
        }
        try FieldWire.expect(FieldWire.typeTag, bytes, &offset, layout.end)
        let code = try FieldWire.readVarint(bytes, &offset, layout.end)
        guard code != 0 else { throw FieldError(.malformed, at: offset) }
        guard let typeCode = UInt8(exactly: code) else { throw FieldError(.unknownType, at: offset) }
        layout.typeCode = typeCode
        layout.valueStart = offset
        current = layout
        return true
    }

    /// Negative, zero or positive as this entry's key comes before, is, or comes after the other's.
    func compareKey(in bytes: Span<UInt8>, with other: FieldCursor, in otherBytes: Span<UInt8>) -> Int {
        FieldWire.compare(
            bytes, current.keyStart, current.keyEnd, otherBytes, other.current.keyStart, other.current.keyEnd)
    }

    func compareKey(in bytes: Span<UInt8>, with key: Span<UInt8>) -> Int {
        FieldWire.compare(bytes, current.keyStart, current.keyEnd, key, 0, key.count)
    }

    func appendUnlessRemoval(_ bytes: [UInt8], to output: inout [UInt8]) {
        if current.typeCode == FieldType.removed.rawValue { return }
        output.append(contentsOf: bytes[current.start..<current.end])
    }
}
