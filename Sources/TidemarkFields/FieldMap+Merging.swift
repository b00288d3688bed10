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

    /// Only the fields with these keys. It takes time in proportion to the number of fields, and to the
    /// logarithm of the number of keys. If all fields are wanted, nothing is copied.
    package func selecting(_ selection: FieldSelection) -> FieldMap {
        let fields = bytes.span
        var selected: [UInt8] = []
        // Wanted entries side by side that are not copied yet.
        var run = 0..<0
        var cursor = FieldCursor()
        var next = 0
        while next < selection.keys.count, cursor.advance(in: fields) {
            let entry = cursor.current
            let place = selection.keys.place(of: entry.keyStart..<entry.keyEnd, in: fields, from: next)
            next = place.index
            guard place.isFound else { continue }
            next += 1
            if entry.start == run.upperBound {
                run = run.lowerBound..<entry.end
            } else {
                if selected.isEmpty, !run.isEmpty { selected.reserveCapacity(bytes.count - run.lowerBound) }
                selected.append(contentsOf: bytes[run])
                run = entry.start..<entry.end
            }
        }
        guard run.count < bytes.count else { return self }
        selected.append(contentsOf: bytes[run])
        return FieldMap(selected, mayNameOthers: mayNameOthers, mayHaveEncryptedValues: mayHaveEncryptedValues)
    }
}

/// The keys that a fetch wants (`desiredKeys`), made once and used for many records.
package struct FieldSelection: Sendable, Hashable {
    let keys: FieldKeys

    package init(_ keys: some Sequence<String>) {
        self.keys = FieldKeys(keys)
    }
}
