// SPDX-License-Identifier: Apache-2.0

internal import DequeModule
internal import TidemarkBytes
internal import TidemarkWebSocket

/// Plaintext to be sent. It holds no memory while it is empty, because most connections are idle most of the time.
///
/// Small payloads are collected in one array, so that they are sent together. A large payload stays a separate array
/// and is not copied behind others. A client's large payloads are masked when they are sent, one TLS record at a time.
struct OutgoingQueue {
    /// Bytes in a separate array.
    private struct Piece {
        var bytes: [UInt8]
        /// The key that masks them when they are sent; nil if they are sent unmasked.
        var maskKey: UInt32?
    }

    /// The next bytes to send, from `head` on.
    private var bytes: [UInt8] = []
    private var head = 0
    private var maskKey: UInt32?
    /// The pieces after these.
    private var later: Deque<Piece> = []
    private var laterCount = 0
    /// The bytes of the last tick, so that the next one allocates once.
    private var expectedCount = 0

    /// A larger need is not expected again just because it occurred once.
    private static let expectedCountMax = 16_384
    /// Larger payloads are kept in a separate array.
    static let togetherBytesMax = 65_536
    /// The bytes that are masked at a time: as many as a TLS record holds, and few enough to stay in the nearest cache.
    private static let maskedBytesMax = 16_384

    var count: Int { bytes.count - head + laterCount }

    /// The bytes that it keeps in memory: an array is freed when all of it was sent.
    var memory: Int { bytes.count + laterCount }

    var isEmpty: Bool { bytes.count == head && laterCount == 0 }

    /// Lets `body` append to the end of the queue; `count` is the approximate number of bytes.
    mutating func append(about count: Int, _ body: (inout [UInt8]) -> Void) {
        if later.isEmpty, bytes.isEmpty || bytes.count + count <= Self.togetherBytesMax {
            if bytes.capacity == 0 { bytes.reserveCapacity(max(count, expectedCount)) }
            return body(&bytes)
        }
        var last: [UInt8] = []
        if let end = later.last, end.bytes.count + count <= Self.togetherBytesMax {
            // Taken out of the property, so that it is changed in place.
            last = later.removeLast().bytes
            laterCount -= last.count
        } else {
            last.reserveCapacity(count)
        }
        body(&last)
        laterCount += last.count
        later.append(Piece(bytes: last))
    }

    /// Appends bytes that are masked when they are sent, and not copied before. There are more than
    /// ``togetherBytesMax``.
    mutating func append(masked: [UInt8], key: UInt32) {
        precondition(masked.count > Self.togetherBytesMax)
        if isEmpty {
            (bytes, head, maskKey) = (masked, 0, key)
        } else {
            later.append(Piece(bytes: masked, maskKey: key))
            laterCount += masked.count
        }
    }

    /// Appends bytes that others may share. They are kept without a copy if nothing else waits, or if they are many.
    mutating func append(shared: [UInt8]) {
        if isEmpty {
            (bytes, head) = (shared, 0)
        } else if shared.count > Self.togetherBytesMax {
            later.append(Piece(bytes: shared))
            laterCount += shared.count
        } else {
            // A shared array is copied when it grows. With room for the bytes of the last tick, that happens once.
            if later.isEmpty, bytes.capacity < bytes.count + shared.count {
                bytes.reserveCapacity(max(expectedCount, bytes.count * 2))
            }
            append(about: shared.count) { $0.append(contentsOf: shared) }
        }
    }

    /// Passes the next bytes to `body`, at most this many. There may be more behind them.
    ///
    /// - Parameter place: the position in its page of the memory to which bytes are masked.
    func withBytes<Result>(
        atMost count: Int, maskedAt place: Int = 0, _ body: (UnsafeRawBufferPointer) -> Result
    ) -> Result {
        bytes.withUnsafeBytes { all in
            guard let maskKey else {
                return body(UnsafeRawBufferPointer(rebasing: all[head..<min(head + count, all.count)]))
            }
            let next = all[head..<min(head + min(count, Self.maskedBytesMax), all.count)]
            return PagePlace.withMemory(next.count, at: place) { masked in
                Masking.copy(key: maskKey, offset: head, from: UnsafeRawBufferPointer(rebasing: next), to: masked)
                return body(UnsafeRawBufferPointer(masked))
            }
        }
    }

    mutating func discard(_ count: Int) {
        head += count
        guard head == bytes.count else { return }
        expectedCount = min(head, Self.expectedCountMax)
        (bytes, head, maskKey) = ([], 0, nil)
        while bytes.isEmpty, let next = later.popFirst() {
            (bytes, maskKey) = (next.bytes, next.maskKey)
            laterCount -= next.bytes.count
        }
    }

    mutating func clear() {
        (bytes, head, maskKey) = ([], 0, nil)
        later = []
        laterCount = 0
    }
}
