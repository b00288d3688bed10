// SPDX-License-Identifier: Apache-2.0

/// Keys, each with the space and the type that its values have: maps are held against it without decoding anything.
package struct FieldShapes: Sendable {
    /// Of all keys, one after the other, ascending.
    private var keyBytes: [UInt8] = []
    /// Where each key ends in ``keyBytes``.
    private var keyEnds: [Int] = []
    private var kinds: [Kind] = []

    private struct Kind: Equatable {
        let typeCode: UInt8
        let isEncrypted: Bool
    }

    /// - Parameter fields: each key once.
    package init(_ fields: [(key: String, typeCode: UInt8, isEncrypted: Bool)]) {
        let sorted = fields.map { (Array($0.key.utf8), Kind(typeCode: $0.typeCode, isEncrypted: $0.isEncrypted)) }
            .sorted { $0.0.lexicographicallyPrecedes($1.0) }
        for (key, kind) in sorted {
            keyBytes += key
            keyEnds.append(keyBytes.count)
            kinds.append(kind)
        }
    }

    /// Whether every entry but removals has one of the keys, in its space, and holds its type.
    ///
    /// Both sides are in the order of their keys: a record that has most fields of its type is one walk along both.
    package func cover(_ map: FieldMap) -> Bool {
        let bytes = map.bytes.span
        var cursor = FieldCursor()
        var next = 0
        while cursor.advance(in: bytes) {
            let layout = cursor.current
            if layout.isRemoval { continue }
            guard let index = index(of: cursor, in: bytes, from: next),
                kinds[index] == Kind(typeCode: layout.typeCode, isEncrypted: layout.isEncrypted)
            else { return false }
            next = index + 1
        }
        return true
    }

    private func index(of cursor: FieldCursor, in bytes: Span<UInt8>, from first: Int) -> Int? {
        var (low, high) = (first, kinds.count)
        // The very next one is looked at first.
        var middle = low
        while low < high {
            let start = middle == 0 ? 0 : keyEnds[middle - 1]
            let order = FieldWire.compare(
                bytes, cursor.current.keyStart, cursor.current.keyEnd, keyBytes.span, start, keyEnds[middle])
            if order == 0 { return middle }
            if order < 0 { high = middle } else { low = middle + 1 }
            middle = low + (high - low) / 2
        }
        return nil
    }
}
