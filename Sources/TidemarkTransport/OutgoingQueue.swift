// SPDX-License-Identifier: Apache-2.0

internal import DequeModule
internal import TidemarkBytes
internal import TidemarkWebSocket

/// Plaintext that waits to be sent. It holds no memory while it is empty: most connections are idle most of the time.
///
/// What is small stands in one array, so that it leaves together; what is large is an array of its own, and is not copied to
/// stand behind something else. A client's large payloads are masked on their way out, a record of TLS at a time.
struct OutgoingQueue {
    /// Bytes that stand alone.
    private struct Piece {
        var bytes: [UInt8]
        /// What they are masked with when they leave; nil: they leave as they are.
        var maskKey: UInt32?
    }

    /// What is sent next, from `head` on.
    private var bytes: [UInt8] = []
    private var head = 0
    private var maskKey: UInt32?
    /// What comes after it.
    private var later: Deque<Piece> = []
    private var laterCount = 0
    /// What the last tick needed, so that the next one allocates once.
    private var expectedCount = 0

    /// More than this is not expected again only because it was needed once.
    private static let expectedCountMax = 16_384
    /// More than this stands alone.
    static let togetherBytesMax = 65_536
    /// Bytes that are masked at a time: as many as a record of TLS holds, and few enough to stay in the nearest cache.
    private static let maskedBytesMax = 16_384

    var count: Int { bytes.count - head + laterCount }

    var isEmpty: Bool { bytes.count == head && laterCount == 0 }

    /// Lets `body` append to the queue's end; `count` is about how many bytes that will be.
    mutating func append(about count: Int, _ body: (inout [UInt8]) -> Void) {
        if later.isEmpty, bytes.isEmpty || bytes.count + count <= Self.togetherBytesMax {
            if bytes.capacity == 0 { bytes.reserveCapacity(max(count, expectedCount)) }
            return body(&bytes)
        }
        var last: [UInt8] = []
        if let end = later.last, end.bytes.count + count <= Self.togetherBytesMax {
            // Taken out, so that it is changed in place.
            last = later.removeLast().bytes
            laterCount -= last.count
        } else {
            last.reserveCapacity(count)
        }
        body(&last)
        laterCount += last.count
        later.append(Piece(bytes: last))
    }

    /// Appends bytes that are masked when they leave, and not copied before. They are more than ``togetherBytesMax``.
    mutating func append(masked: [UInt8], key: UInt32) {
        precondition(masked.count > Self.togetherBytesMax)
        if isEmpty {
            (bytes, head, maskKey) = (masked, 0, key)
        } else {
            later.append(Piece(bytes: masked, maskKey: key))
            laterCount += masked.count
        }
    }

    /// Appends bytes that others may share: kept without a copy if nothing else waits, or if they are many.
    mutating func append(shared: [UInt8]) {
        if isEmpty {
            (bytes, head) = (shared, 0)
        } else if shared.count > Self.togetherBytesMax {
            later.append(Piece(bytes: shared))
            laterCount += shared.count
        } else {
            // A shared array is copied when it grows; with room for what the last tick needed, once.
            if later.isEmpty, bytes.capacity < bytes.count + shared.count {
                bytes.reserveCapacity(max(expectedCount, bytes.count * 2))
            }
            append(about: shared.count) { $0.append(contentsOf: shared) }
        }
    }

    /// Lends what is next, at most so many bytes of it; there may be more behind it.
    ///
    /// - Parameter place: where in its page memory begins that bytes are masked to.
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
