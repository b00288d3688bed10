// SPDX-License-Identifier: Apache-2.0

/// Encrypted bytes that wait to be sent. It holds no memory while it is empty: most sessions are idle most of the time.
///
/// Memory of its own, and not an array: filled and emptied once a message, an array's counts and checks took as long as
/// its bytes.
struct TLSOutput: ~Copyable {
    private var memory: UnsafeMutableRawPointer?
    private(set) var capacity = 0
    /// What is in use of it.
    private var start = 0
    private var end = 0

    init() {}

    deinit {
        memory?.deallocate()
    }

    var count: Int { end - start }

    var isEmpty: Bool { start == end }

    /// Makes room for `added` more bytes, so that appending them moves what is there at most once.
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

    /// Lends what waits, which must not be appended to meanwhile.
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
