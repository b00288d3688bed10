// SPDX-License-Identifier: Apache-2.0

internal import DequeModule

/// The parts of a content that are under way. Parts are sent, and answered, in the order of their bytes, and each
/// begins where the one before it ends.
struct PartWindow {
    /// Where the last part ends.
    let end: Int64
    /// The first byte that is not under way yet.
    private(set) var next: Int64 = 0
    /// The oldest first.
    private var parts: Deque<Range<Int64>> = []

    init(end: Int64) {
        self.end = end
    }

    /// Whether no part is under way.
    var isEmpty: Bool { parts.isEmpty }

    /// Whether there is something to send that is not under way.
    var hasMore: Bool { next < end }

    /// The next part, which is under way from now on. It is empty if there are no more bytes.
    ///
    /// - Parameter byteCountMax: how long it may be.
    mutating func add(byteCountMax: Int) -> Range<Int64> {
        let part = next..<next + min(Int64(byteCountMax), end - next)
        next = part.upperBound
        parts.append(part)
        return part
    }

    /// The oldest part, which is not under way any more.
    mutating func removeOldest() -> Range<Int64>? {
        parts.popFirst()
    }

    /// Forgets the parts under way: the next part begins here.
    ///
    /// - Parameter offset: at most ``end``.
    mutating func restart(at offset: Int64) {
        next = min(max(0, offset), end)
        parts.removeAll(keepingCapacity: true)
    }
}
