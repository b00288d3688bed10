// SPDX-License-Identifier: Apache-2.0

/// Keys, each with the space and the type of its values. Maps are compared with it without decoding anything.
package struct FieldShapes: Sendable, Equatable {
    /// The bytes of all keys, one after the other, ascending.
    private var keyBytes: [UInt8] = []
    /// Where each key ends in ``keyBytes``.
    private var keyEnds: [Int] = []
    private var kinds: [Kind] = []

    private struct Kind: Equatable {
        let typeCode: UInt8
        let isEncrypted: Bool
    }

    /// - Parameter fields: each key once.
    package init(_ fields: [(key: String, typeCode: UInt8, isEncrypted: Bool)] = []) {
        // Keys are ASCII, so strings are in the order of their bytes.
        for (key, typeCode, isEncrypted) in fields.sorted(by: { $0.key < $1.key }) {
            keyBytes += Array(key.utf8)
            keyEnds.append(keyBytes.count)
            kinds.append(Kind(typeCode: typeCode, isEncrypted: isEncrypted))
        }
    }

    /// Adds a key that is not there. Takes a few microseconds for each thousand keys that there are.
    package mutating func insert(_ key: String, typeCode: UInt8, isEncrypted: Bool) {
        let bytes = Array(key.utf8)
        var (low, high) = (0, kinds.count)
        while low < high {
            let middle = (low + high) / 2
            let start = middle == 0 ? 0 : keyEnds[middle - 1]
            let order = FieldWire.compare(bytes.span, 0, bytes.count, keyBytes.span, start, keyEnds[middle])
            if order < 0 { high = middle } else { low = middle + 1 }
        }
        let start = low == 0 ? 0 : keyEnds[low - 1]
        keyBytes.insert(contentsOf: bytes, at: start)
        keyEnds.insert(start, at: low)
        for index in low..<keyEnds.count { keyEnds[index] += bytes.count }
        kinds.insert(Kind(typeCode: typeCode, isEncrypted: isEncrypted), at: low)
    }

    /// Whether each entry has one of the keys, in its space and with its type. Removals always fit.
    ///
    /// Both sides are in the order of their keys, so one pass over both is enough.
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
        // The next key is the most likely one.
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
