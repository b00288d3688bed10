// SPDX-License-Identifier: Apache-2.0

/// A growable first-in, first-out queue of bytes: append at the end, read and discard at the front.
///
/// What has been read is dropped lazily, so that taking small pieces from the front costs no move a piece.
/// Integers are in network order (big-endian). Not limited by itself: whoever fills it checks ``readableCount``.
package struct ByteBuffer: Sendable {
    @usableFromInline var storage: [UInt8]
    @usableFromInline var head = 0

    @inlinable
    package init() {
        storage = []
    }

    @inlinable
    package init(capacity: Int) {
        storage = []
        storage.reserveCapacity(capacity)
    }

    @inlinable
    package init(_ bytes: [UInt8]) {
        storage = bytes
    }

    /// The number of bytes that can be read.
    @inlinable
    package var readableCount: Int { storage.count - head }

    @inlinable
    package var isEmpty: Bool { storage.count == head }

    /// The memory that is held, used or not.
    var memoryBytes: Int { storage.capacity }

    /// Below this, what has been read is not worth moving the rest for.
    @usableFromInline static var compactionBytesMin: Int { 65_536 }

    /// An emptied buffer keeps up to so much memory for what comes next.
    @usableFromInline static var keptBytesMax: Int { 65_536 }

    /// A copy of what can be read.
    @inlinable
    package var readableBytes: [UInt8] { head == 0 ? storage : Array(storage[head...]) }

    // MARK: At the end

    /// Makes room for `count` more bytes, so that appending them moves what is there at most once.
    @inlinable
    package mutating func reserve(_ count: Int) {
        guard storage.count + count > storage.capacity else { return }
        // What has been read goes first, if that moves no more than it frees.
        if head >= readableCount { compact() }
        // Doubling, as appending does: many small reservations must not copy everything each time.
        let needed = storage.count + count
        if needed > storage.capacity { storage.reserveCapacity(max(needed, 2 * storage.count)) }
    }

    @inlinable
    package mutating func append(_ byte: UInt8) {
        storage.append(byte)
    }

    @inlinable
    package mutating func append(_ bytes: [UInt8]) {
        storage.append(contentsOf: bytes)
    }

    @inlinable
    package mutating func append(_ bytes: ArraySlice<UInt8>) {
        storage.append(contentsOf: bytes)
    }

    @inlinable
    package mutating func append(_ bytes: UnsafeRawBufferPointer) {
        storage.append(contentsOf: bytes)
    }

    @inlinable
    package mutating func append(utf8 text: String) {
        storage.append(contentsOf: text.utf8)
    }

    /// Appends an integer in network order.
    @inlinable
    package mutating func append<T: FixedWidthInteger>(integer: T) {
        withUnsafeBytes(of: integer.bigEndian) { storage.append(contentsOf: $0) }
    }

    /// Makes room for `count` bytes at the end, lets `body` fill them, and keeps as many as it says it wrote.
    ///
    /// The room holds zeroes; `body` must return a number in `0...count`.
    @inlinable
    package mutating func appendWritten(
        capacity count: Int,
        _ body: (UnsafeMutableRawBufferPointer) throws -> Int
    ) rethrows {
        reserve(count)
        let start = storage.count
        storage.append(contentsOf: repeatElement(0, count: count))
        var written = 0
        defer { storage.removeLast(count - written) }
        written = try storage.withUnsafeMutableBytes { bytes in
            try body(UnsafeMutableRawBufferPointer(rebasing: bytes[start...]))
        }
        precondition((0...count).contains(written))
    }

    // MARK: At the front

    /// Lends what can be read, in place.
    @inlinable
    package func withReadable<Result>(
        _ body: (UnsafeRawBufferPointer) throws -> Result
    ) rethrows -> Result {
        try storage.withUnsafeBytes { bytes in
            try body(UnsafeRawBufferPointer(rebasing: bytes[head...]))
        }
    }

    /// Lends what can be read, in place, to be changed (a frame's payload is unmasked where it lies).
    @inlinable
    package mutating func withMutableReadable<Result>(
        _ body: (UnsafeMutableRawBufferPointer) throws -> Result
    ) rethrows -> Result {
        let head = head
        return try storage.withUnsafeMutableBytes { bytes in
            try body(UnsafeMutableRawBufferPointer(rebasing: bytes[head...]))
        }
    }

    /// Drops `count` bytes at the front; `count` is at most ``readableCount``.
    @inlinable
    package mutating func discard(_ count: Int) {
        precondition(count >= 0 && count <= readableCount)
        head += count
        if head == storage.count {
            clear()
        } else if head > Self.compactionBytesMin, head > readableCount {
            compact()
        }
    }

    /// Takes the first `count` bytes; nil, and nothing taken, if there are fewer.
    @inlinable
    package mutating func read(_ count: Int) -> [UInt8]? {
        guard count >= 0, count <= readableCount else { return nil }
        let bytes = Array(storage[head..<head + count])
        discard(count)
        return bytes
    }

    /// Takes an integer in network order; nil, and nothing taken, if there are too few bytes.
    @inlinable
    package mutating func read<T: FixedWidthInteger>(integer type: T.Type) -> T? {
        let size = MemoryLayout<T>.size
        guard size <= readableCount else { return nil }
        let value = withReadable { $0.loadUnaligned(as: T.self) }
        discard(size)
        return T(bigEndian: value)
    }

    /// Takes everything and leaves the buffer empty.
    @inlinable
    package mutating func takeAll() -> [UInt8] {
        let bytes = readableBytes
        storage = []
        head = 0
        return bytes
    }

    /// Drops everything; small memory is kept for reuse, large memory is given back.
    @inlinable
    package mutating func clear() {
        if storage.capacity > Self.keptBytesMax { storage = [] } else { storage.removeAll(keepingCapacity: true) }
        head = 0
    }

    /// Gives all memory back; the buffer must be empty.
    @inlinable
    package mutating func release() {
        precondition(isEmpty)
        storage = []
        head = 0
    }

    @inlinable
    mutating func compact() {
        guard head > 0 else { return }
        storage.removeSubrange(..<head)
        head = 0
    }
}
