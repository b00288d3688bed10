// SPDX-License-Identifier: Apache-2.0

/// Writes the bytes of messages. It makes no intermediate objects, and copies content once.
///
/// A nested message is preceded by its size. So the caller measures it first (``size(_:)``).
@usableFromInline
package struct WireWriter {
    @usableFromInline var written: [UInt8]
    @usableFromInline var counted: Int
    /// Whether messages that are written field by field only count their bytes.
    @usableFromInline package let isMeasuring: Bool

    /// The bytes written so far.
    @inlinable package var bytes: [UInt8] { written }

    @inlinable
    package init(capacity: Int) {
        written = []
        written.reserveCapacity(capacity)
        counted = 0
        isMeasuring = false
    }

    @inlinable
    init(isMeasuring: Bool) {
        written = []
        counted = 0
        self.isMeasuring = isMeasuring
    }

    /// The number of bytes that a function writes.
    ///
    /// So one function lists the fields of a message, both to measure and to write it.
    @inlinable
    package static func size(_ write: (inout WireWriter) -> Void) -> Int {
        var writer = WireWriter(isMeasuring: true)
        write(&writer)
        return writer.counted + writer.written.count
    }

    /// Adds to what a writer that measures has counted.
    @inlinable package mutating func count(_ byteCount: Int) { counted += byteCount }

    /// Appends to bytes that were written before.
    @inlinable
    package static func add(to bytes: inout [UInt8], _ write: (inout WireWriter) -> Void) {
        var writer = WireWriter(capacity: 0)
        // Moved out, so that appending does not copy them.
        swap(&writer.written, &bytes)
        write(&writer)
        swap(&writer.written, &bytes)
    }

    // MARK: Values

    /// A varint: a value, a tag or a length.
    @inlinable @inline(__always)
    package mutating func number(_ value: UInt64) { WireNumber.append(value, to: &written) }

    @inlinable package mutating func uint64(_ value: UInt64) { number(value) }
    @inlinable package mutating func int64(_ value: Int64) { number(UInt64(bitPattern: value)) }
    @inlinable package mutating func uint32(_ value: UInt32) { number(UInt64(value)) }
    @inlinable package mutating func int32(_ value: Int32) { int64(Int64(value)) }
    @inlinable package mutating func zigzag(_ value: Int64) { number(WireNumber.zigzag(value)) }
    @inlinable package mutating func flag(_ value: Bool) { written.append(value ? 1 : 0) }
    @inlinable package mutating func double(_ value: Double) {
        withUnsafeBytes(of: value.bitPattern.littleEndian) { written.append(contentsOf: $0) }
    }
    @inlinable package mutating func choice(_ value: some WireChoice) { int32(value.rawValue) }

    @inlinable
    package mutating func text(_ text: String) {
        number(UInt64(text.utf8.count))
        written.append(contentsOf: text.utf8)
    }

    @inlinable
    package mutating func content(_ content: some WireContent) {
        number(UInt64(content.byteCount))
        content.append(to: &written)
    }

    @inlinable
    package mutating func message(_ message: some WireMessage) {
        number(UInt64(message.size))
        message.write(to: &self)
    }

    /// Bytes that already are encoded fields.
    @inlinable
    package mutating func raw(_ fields: some WireContent) { fields.append(to: &written) }
}
