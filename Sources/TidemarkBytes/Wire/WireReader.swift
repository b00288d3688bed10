// SPDX-License-Identifier: Apache-2.0

/// Reads the bytes of a message, field by field.
///
/// It trusts nothing. It checks each length against the end of the enclosing message, and each bound before it allocates
/// anything. Bad bytes give a ``WireError``.
@usableFromInline
package struct WireReader {
    @usableFromInline let bytes: UnsafeBufferPointer<UInt8>
    /// The array that holds the bytes. Slices share it.
    @usableFromInline let source: [UInt8]
    /// Offset of the next byte.
    @usableFromInline var position = 0
    /// Offset of the end of the message that is being read.
    @usableFromInline var end: Int
    /// How many more nested messages and elements are allowed.
    @usableFromInline var elementsLeft: Int
    /// How many more fields are allowed. It bounds the time for fields that make no elements, known or not.
    @usableFromInline var fieldsLeft: Int
    /// How many recursive messages are open, and how many there were.
    @usableFromInline var depth = 0
    @usableFromInline var recursiveCount = 0
    /// Bytes of memory that the values take which were read so far. It is never less than they take.
    @usableFromInline package internal(set) var memory = 0

    /// - Parameters:
    ///   - bytes: must not move while the reader is in use.
    ///   - source: the array that `bytes` points to.
    ///   - elementsMax: see ``WireMessage/elementsInAllMax``.
    @inlinable
    package init(_ bytes: UnsafeBufferPointer<UInt8>, of source: [UInt8], elementsMax: Int) {
        self.bytes = bytes
        self.source = source
        end = bytes.count
        elementsLeft = elementsMax
        fieldsLeft = elementsMax > .max / Self.fieldsPerElement ? .max : elementsMax * Self.fieldsPerElement
    }

    /// How many fields an element has, at most, on average. The largest records have six each.
    @inlinable static var fieldsPerElement: Int { 8 }

    // MARK: Tags

    /// The tag of the next field: its number times eight, and its wire type. Nil at the end of the message.
    @inlinable
    package mutating func nextTag() throws(WireError) -> UInt32? {
        guard position < end else { return nil }
        guard fieldsLeft > 0 else { throw WireError(.tooManyElements, at: position) }
        fieldsLeft -= 1
        let first = bytes[position]
        guard first >= 0x80 else {
            position += 1
            return UInt32(first)
        }
        return try longTag()
    }

    @usableFromInline
    mutating func longTag() throws(WireError) -> UInt32 {
        let start = position
        let tag = try number()
        guard tag < UInt64(UInt32.max) else { throw WireError(.badTag, at: start) }
        return UInt32(tag)
    }

    // MARK: Numbers

    /// A varint.
    @inlinable
    package mutating func number() throws(WireError) -> UInt64 {
        guard position < end else { throw WireError(.truncated, at: position) }
        let first = bytes[position]
        position += 1
        return first < 0x80 ? UInt64(first) : try WireNumber.readRest(of: first, bytes.span, &position, end)
    }

    /// Eight bytes, in little-endian order.
    @inlinable
    package mutating func fixed64() throws(WireError) -> UInt64 {
        guard end - position >= 8 else { throw WireError(.truncated, at: position) }
        let value = UnsafeRawBufferPointer(bytes).loadUnaligned(fromByteOffset: position, as: UInt64.self)
        position += 8
        return UInt64(littleEndian: value)
    }

    // MARK: Content

    /// Reads a length, and checks that this many bytes follow.
    @inlinable
    package mutating func length() throws(WireError) -> Int {
        let length = try number()
        guard length <= UInt64(end - position) else { throw WireError(.truncated, at: position) }
        return Int(length)
    }

    /// Skips a value that has a length.
    @inlinable
    package mutating func range(atMost bytesMax: Int) throws(WireError) -> Range<Int> {
        let length = try length()
        guard length <= bytesMax else { throw WireError(.tooManyBytes, at: position) }
        defer { position += length }
        return position..<position + length
    }

    /// A string in UTF-8.
    @inlinable
    package mutating func text(atMost bytesMax: Int = .max) throws(WireError) -> String {
        let range = try range(atMost: bytesMax)
        let content = UnsafeBufferPointer(rebasing: bytes[range])
        occupy(content.count)
        // Names are nearly always ASCII, which is cheaper to check.
        if content.allSatisfy({ $0 < 0x80 }) { return String(decoding: content, as: UTF8.self) }
        guard let text = String(validating: content, as: UTF8.self) else {
            throw WireError(.badText, at: range.lowerBound)
        }
        return text
    }

    /// A copy of the bytes.
    @inlinable
    package mutating func content(atMost bytesMax: Int = .max) throws(WireError) -> [UInt8] {
        let range = try range(atMost: bytesMax)
        occupy(range.count)
        return Array(bytes[range])
    }

    /// The bytes without a copy. The slice keeps the whole message in memory.
    package mutating func slice(atMost bytesMax: Int = .max) throws(WireError) -> ArraySlice<UInt8> {
        let range = try range(atMost: bytesMax)
        occupy(source.count)
        return source[range]
    }

    // MARK: Memory

    /// Counts memory of a string or an array: its bytes, and what the heap adds to them.
    @inlinable
    mutating func occupy(_ byteCount: Int) { memory += byteCount + Self.heapBytes }

    /// Counts one element of a list. A list that grows takes up to twice what its elements need, and the heap rounds
    /// large blocks up.
    @inlinable
    mutating func occupy<Element>(element: Element.Type, of list: [Element]) {
        memory += MemoryLayout<Element>.stride * 17 / 8 + 1
        if list.isEmpty { memory += Self.heapBytes }
    }

    /// The heap's cost of one object beside its content: the header of an array or a string, that of the block, and
    /// rounding.
    @inlinable static var heapBytes: Int { 64 }
}
