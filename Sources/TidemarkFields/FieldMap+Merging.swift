// SPDX-License-Identifier: Apache-2.0

extension FieldMap {
    /// These fields with `changes` applied. Each key of the changes is replaced, added or removed. The rest stays (R-063, R-093,
    ///
    ///
    /// The result has no removals. `FieldMap().merging(changes)` is the content of a record that `changes` create.
    package func merging(_ changes: FieldMap) -> FieldMap {
        // As long as the result equals the changes so far, nothing is copied. A client that sends all fields costs no copy.
        var merged: [UInt8]?
        let old = bytes.span
        let new = changes.bytes.span
        var left = FieldCursor()
        var right = FieldCursor()
        var hasLeft = left.advance(in: old)
        var hasRight = right.advance(in: new)
        while hasLeft || hasRight {
            let order = !hasRight ? -1 : !hasLeft ? 1 : left.compareKey(in: old, with: right, in: new)
            if merged == nil, order < 0 || right.current.isRemoval {
                var beginning: [UInt8] = []
                beginning.reserveCapacity(bytes.count + changes.bytes.count)
                beginning += changes.bytes[..<(hasRight ? right.current.start : changes.bytes.count)]
                merged = beginning
            }
            if order < 0, !left.current.isRemoval {
                merged?.append(contentsOf: bytes[left.current.start..<left.current.end])
            } else if order >= 0, !right.current.isRemoval {
                merged?.append(contentsOf: changes.bytes[right.current.start..<right.current.end])
            }
            if order <= 0 { hasLeft = left.advance(in: old) }
            if order >= 0 { hasRight = right.advance(in: new) }
        }
        guard let merged else { return changes }
        return FieldMap(
            merged, mayNameOthers: mayNameOthers || changes.mayNameOthers,
            mayHaveEncryptedValues: mayHaveEncryptedValues || changes.mayHaveEncryptedValues)
    }

    /// Only the fields with these keys.
    package func selecting(_ selection: FieldSelection) -> FieldMap {
        guard !selection.keys.isEmpty else { return FieldMap() }
        var selected: [UInt8] = []
        selected.reserveCapacity(bytes.count)
        var cursor = FieldCursor()
        var next = 0
        while cursor.advance(in: bytes.span) {
            var order = 1
            while next < selection.keys.count {
                let key = selection.keys[next]
                order = cursor.compareKey(in: bytes.span, with: key.span)
                if order <= 0 { break }
                next += 1
            }
            if next == selection.keys.count { break }
            if order == 0 { selected.append(contentsOf: bytes[cursor.current.start..<cursor.current.end]) }
        }
        return FieldMap(
            selected, mayNameOthers: mayNameOthers, mayHaveEncryptedValues: mayHaveEncryptedValues)
    }
}

/// The keys that a fetch wants (`desiredKeys`), made once and used for many records.
package struct FieldSelection: Sendable, Hashable {
    /// Ascending, no key twice.
    let keys: [[UInt8]]

    package init(_ keys: some Sequence<String>) {
        self.keys = Set(keys).map { Array($0.utf8) }.sorted { $0.lexicographicallyPrecedes($1) }
    }
}
