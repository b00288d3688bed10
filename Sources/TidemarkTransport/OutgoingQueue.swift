// SPDX-License-Identifier: Apache-2.0

/// Plaintext that waits to be sent. It holds no memory while it is empty: most connections are idle most of the time.
struct OutgoingQueue {
    private var bytes: [UInt8] = []
    private var head = 0
    /// What the last tick needed, so that the next one allocates once.
    private var expectedCount = 0

    /// More than this is not expected again only because it was needed once.
    private static let expectedCountMax = 16_384

    var count: Int { bytes.count - head }

    var isEmpty: Bool { bytes.count == head }

    /// Lets `body` append to the queue's end; `count` is about how many bytes that will be.
    mutating func append(about count: Int, _ body: (inout [UInt8]) -> Void) {
        if bytes.capacity == 0 { bytes.reserveCapacity(max(count, expectedCount)) }
        body(&bytes)
    }

    /// Appends bytes that others may share: kept without a copy if nothing else waits.
    mutating func append(shared: [UInt8]) {
        if bytes.isEmpty {
            bytes = shared
        } else {
            // A shared array is copied when it grows; with room for what the last tick needed, once.
            if bytes.capacity < bytes.count + shared.count {
                bytes.reserveCapacity(max(expectedCount, bytes.count * 2))
            }
            bytes.append(contentsOf: shared)
        }
    }

    func withBytes<Result>(atMost count: Int, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        bytes.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[head..<min(head + count, $0.count)])) }
    }

    mutating func discard(_ count: Int) {
        head += count
        if head == bytes.count {
            expectedCount = min(head, Self.expectedCountMax)
            bytes = []
            head = 0
        } else if head > 1024 * 1024, head > bytes.count / 2 {
            bytes.removeSubrange(..<head)
            head = 0
        }
    }

    mutating func clear() {
        bytes = []
        head = 0
    }
}
