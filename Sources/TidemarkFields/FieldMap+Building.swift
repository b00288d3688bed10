// SPDX-License-Identifier: Apache-2.0

/// A field with its value, for making a ``FieldMap``.
package struct Field: Sendable, Hashable {
    package var key: String
    package var isEncrypted: Bool
    package var value: FieldValue

    package init(_ key: String, _ value: FieldValue, isEncrypted: Bool = false) {
        self.key = key
        self.isEncrypted = isEncrypted
        self.value = value
    }
}

extension FieldMap {
    /// Encodes fields in any order.
    ///
    /// It throws what ``init(validating:limits:keys:)`` would throw for the result: `duplicateKey`, `badKey`, `tooLarge`, and
    /// `badValue` for a reference with an impossible name.
    package init(
        _ fields: some Collection<Field>, limits: FieldLimits = .standard, keys: FieldKeyRule = .app
    ) throws(FieldError) {
        var bytes: [UInt8] = []
        var entry: [UInt8] = []
        for field in fields.sorted(by: { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }) {
            entry.removeAll(keepingCapacity: true)
            FieldWire.append(tag: FieldTag.Field.key, text: field.key, to: &entry)
            if field.isEncrypted { entry += [FieldTag.Field.encrypted, 1] }
            entry += [FieldTag.Field.type, field.value.type.rawValue]
            FieldWriter.append(field.value, to: &entry)
            FieldWire.append(tag: FieldTag.FieldMap.fields, content: entry, to: &bytes)
            guard bytes.count <= limits.byteCountMax else { throw FieldError(.tooLarge, at: limits.byteCountMax) }
        }
        try self.init(validating: bytes, limits: limits, keys: keys)
    }
}
