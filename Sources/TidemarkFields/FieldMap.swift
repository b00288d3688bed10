// SPDX-License-Identifier: Apache-2.0

/// A record's fields as bytes. The encoding is canonical, and the same on the wire, in the store and in the client.
///
/// The bytes are a protobuf message. `Fields.proto` describes it and its rules. The entries are in ascending order of their
/// keys. Each has a flag (plain or encrypted), a type code and a value. Equal fields have equal bytes. Keys are merged,
/// filtered and checked without decoding a value.
package struct FieldMap: Sendable, Hashable {
    /// The encoded message.
    package let bytes: [UInt8]
    /// Whether there may be references or assets. Most records have none, and are not searched for them.
    package let mayNameOthers: Bool
    /// Whether there may be encrypted values.
    let mayHaveEncryptedValues: Bool

    /// No fields.
    package init() {
        self.init([], mayNameOthers: false, mayHaveEncryptedValues: false)
    }

    init(_ bytes: [UInt8], mayNameOthers: Bool, mayHaveEncryptedValues: Bool) {
        self.bytes = bytes
        self.mayNameOthers = mayNameOthers
        self.mayHaveEncryptedValues = mayHaveEncryptedValues
    }

    /// Takes bytes from a peer. It checks that they are canonical, that keys and values are valid, and their size.
    package init(
        validating bytes: [UInt8], limits: FieldLimits = .standard, keys: FieldKeyRule = .app
    ) throws(FieldError) {
        guard bytes.count <= limits.byteCountMax else { throw FieldError(.tooLarge, at: limits.byteCountMax) }
        let found = try FieldValidator.validate(bytes.span, keys: keys)
        self.init(bytes, mayNameOthers: found.namesOthers, mayHaveEncryptedValues: found.hasEncryptedValues)
    }

    /// Takes bytes that were validated before, by this process or before they were stored.
    ///
    /// If they are not canonical after all, reading ends silently at the first entry that cannot be read. Nothing traps.
    package init(trusting bytes: [UInt8]) {
        self.init(bytes, mayNameOthers: true, mayHaveEncryptedValues: true)
    }

    /// As `init(validated:)`, for bytes that are searched for references and assets more than once.
    package init(surveying bytes: [UInt8]) {
        var cursor = FieldCursor()
        var mayNameOthers = false
        while !mayNameOthers, cursor.advance(in: bytes.span) { mayNameOthers = cursor.current.namesOthers }
        self.init(bytes, mayNameOthers: mayNameOthers, mayHaveEncryptedValues: true)
    }

    package static func == (left: FieldMap, right: FieldMap) -> Bool { left.bytes == right.bytes }

    package func hash(into hasher: inout Hasher) { hasher.combine(bytes) }

    package var byteCount: Int { bytes.count }

    package var isEmpty: Bool { bytes.isEmpty }

    /// The number of entries. Counting takes linear time.
    package var count: Int { reduce(into: 0) { count, _ in count += 1 } }

    /// All keys, plain and encrypted, ascending.
    package var keys: [String] { map(\.key) }

    /// The entry of a key, plain or encrypted. Finding it takes linear time.
    package subscript(key: String) -> Entry? {
        let wanted = Array(key.utf8)
        var cursor = FieldCursor()
        while cursor.advance(in: bytes.span) {
            switch cursor.compareKey(in: bytes.span, with: wanted.span) {
            case ..<0: continue
            case 0: return Entry(bytes: bytes, layout: cursor.current)
            default: return nil
            }
        }
        return nil
    }

    /// Whether it removes a key. Such a map is a change, not a record's content.
    package var containsRemovals: Bool {
        var cursor = FieldCursor()
        while cursor.advance(in: bytes.span) {
            if cursor.current.isRemoval { return true }
        }
        return false
    }
}

extension FieldMap: Sequence {
    /// One field. Its value is not decoded yet.
    package struct Entry: Sendable {
        let bytes: [UInt8]
        let layout: FieldLayout

        package var key: String {
            String(decoding: bytes[layout.keyStart..<layout.keyEnd], as: UTF8.self)
        }

        /// Whether the key belongs to the record's encrypted values.
        package var isEncrypted: Bool { layout.isEncrypted }

        /// The raw value of ``type``.
        package var typeCode: UInt8 { layout.typeCode }

        /// Nil for a code that this version does not know. A validated map has none.
        package var type: FieldType? { FieldType(rawValue: layout.typeCode) }

        /// The bytes of the value, as it is encoded.
        package var valueByteCount: Int { layout.end - layout.valueStart }

        /// Decodes the value. It does not fail on a validated map.
        package func value() throws(FieldError) -> FieldValue {
            try FieldReader.value(bytes, layout)
        }

        /// The beginning of a string of which no more is wanted, up to the end of a code point. Nil for other types.
        package func text(bytesMax: Int) -> String? {
            try? FieldReader.text(bytes, layout, bytesMax: bytesMax)
        }
    }

    /// Goes through the entries in the order of their keys.
    package struct Iterator: IteratorProtocol {
        let bytes: [UInt8]
        var cursor = FieldCursor()

        package mutating func next() -> Entry? {
            let bytes = bytes
            return cursor.advance(in: bytes.span) ? Entry(bytes: bytes, layout: cursor.current) : nil
        }
    }

    package func makeIterator() -> Iterator {
        Iterator(bytes: bytes)
    }
}
