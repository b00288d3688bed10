// SPDX-License-Identifier: Apache-2.0

/// Encrypted bytes to be sent. It holds no memory while it is empty, because most sessions are idle most of the time.
///
/// It manages its memory itself rather than in an array. It is filled and emptied with each message, and an array's
/// reference counts and checks took as long as its bytes.
struct TLSOutput: ~Copyable {
    private var memory: UnsafeMutableRawPointer?
    private(set) var capacity = 0
    /// The part that is in use.
    private var start = 0
    private var end = 0

    init() {}

    deinit {
        memory?.deallocate()
    }

    var count: Int { end - start }

    var isEmpty: Bool { start == end }

    /// Reserves memory for `added` more bytes, so that appending them moves the existing ones at most once.
    mutating func reserve(_ added: Int) {
        guard end + added > capacity else { return }
        // Doubling: many small reservations must not copy everything each time.
        let size = max(count + added, 2 * count)
        let larger = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 1)
        if let memory {
            larger.copyMemory(from: memory + start, byteCount: count)
            memory.deallocate()
        }
        (memory, capacity, start, end) = (larger, size, 0, count)
    }

    mutating func append(_ bytes: UnsafeRawBufferPointer) {
        guard let source = bytes.baseAddress, !bytes.isEmpty else { return }
        reserve(bytes.count)
        guard let memory else { return }
        (memory + end).copyMemory(from: source, byteCount: bytes.count)
        end += bytes.count
    }

    /// Passes the waiting bytes to `body`, which must not append to them.
    func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        body(UnsafeRawBufferPointer(start: memory.map { $0 + start }, count: count))
    }

    /// Drops `dropped` bytes at the front, at most ``count``.
    mutating func discard(_ dropped: Int) {
        precondition(dropped >= 0 && dropped <= count)
        start += dropped
        guard isEmpty else { return }
        memory?.deallocate()
        (memory, capacity, start, end) = (nil, 0, 0, 0)
    }
}
