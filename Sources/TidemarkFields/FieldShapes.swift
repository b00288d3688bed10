// SPDX-License-Identifier: Apache-2.0

/// Keys, each with the space and the type of its values. Maps are compared with it without decoding anything.
package struct FieldShapes: Sendable, Equatable {
    private var keys = FieldKeys()
    /// One for each key.
    private var kinds: [Kind] = []

    private struct Kind: Equatable {
        let typeCode: UInt8
        let isEncrypted: Bool
    }

    /// - Parameter fields: each key once.
    package init(_ fields: [(key: String, typeCode: UInt8, isEncrypted: Bool)] = []) {
        // Keys are ASCII, so strings are in the order of their bytes.
        for (key, typeCode, isEncrypted) in fields.sorted(by: { $0.key < $1.key }) {
            keys.append(key.utf8)
            kinds.append(Kind(typeCode: typeCode, isEncrypted: isEncrypted))
        }
    }

    /// Adds a key that is not there. Takes a few microseconds for each thousand keys that there are.
    package mutating func insert(_ key: String, typeCode: UInt8, isEncrypted: Bool) {
        let index = keys.insert(Array(key.utf8))
        kinds.insert(Kind(typeCode: typeCode, isEncrypted: isEncrypted), at: index)
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
            let place = keys.place(of: layout.keyStart..<layout.keyEnd, in: bytes, from: next)
            guard place.isFound,
                kinds[place.index] == Kind(typeCode: layout.typeCode, isEncrypted: layout.isEncrypted)
            else { return false }
            next = place.index + 1
        }
        return true
    }
}
