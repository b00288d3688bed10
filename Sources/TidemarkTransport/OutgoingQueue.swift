// SPDX-License-Identifier: Apache-2.0

internal import DequeModule

/// Plaintext that waits to be sent. It holds no memory while it is empty: most connections are idle most of the time.
///
/// What is small stands in one array, so that it leaves together; what is large is an array of its own, and is not copied to
/// stand behind something else.
struct OutgoingQueue {
    /// What is sent next, from `head` on.
    private var bytes: [UInt8] = []
    private var head = 0
    /// What comes after it.
    private var later: Deque<[UInt8]> = []
    private var laterCount = 0
    /// What the last tick needed, so that the next one allocates once.
    private var expectedCount = 0

    /// More than this is not expected again only because it was needed once.
    private static let expectedCountMax = 16_384
    /// More than this stands alone.
    private static let togetherBytesMax = 65_536

    var count: Int { bytes.count - head + laterCount }

    var isEmpty: Bool { bytes.count == head && laterCount == 0 }

    /// Lets `body` append to the queue's end; `count` is about how many bytes that will be.
    mutating func append(about count: Int, _ body: (inout [UInt8]) -> Void) {
        if later.isEmpty, bytes.isEmpty || bytes.count + count <= Self.togetherBytesMax {
            if bytes.capacity == 0 { bytes.reserveCapacity(max(count, expectedCount)) }
            return body(&bytes)
        }
        var last: [UInt8] = []
        if let end = later.last, end.count + count <= Self.togetherBytesMax {
            // Taken out, so that it is changed in place.
            last = later.removeLast()
            laterCount -= last.count
        } else {
            last.reserveCapacity(count)
        }
        body(&last)
        laterCount += last.count
        later.append(last)
    }

    /// Appends bytes that others may share: kept without a copy if nothing else waits, or if they are many.
    mutating func append(shared: [UInt8]) {
        if isEmpty {
            (bytes, head) = (shared, 0)
        } else if shared.count > Self.togetherBytesMax {
            later.append(shared)
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
    func withBytes<Result>(atMost count: Int, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        bytes.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[head..<min(head + count, $0.count)])) }
    }

    mutating func discard(_ count: Int) {
        head += count
        guard head == bytes.count else { return }
        expectedCount = min(head, Self.expectedCountMax)
        (bytes, head) = ([], 0)
        while bytes.isEmpty, let next = later.popFirst() {
            bytes = next
            laterCount -= next.count
        }
    }

    mutating func clear() {
        bytes = []
        head = 0
        later = []
        laterCount = 0
    }
}
