// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// One timer of a loop: work that is taken exactly once, by the loop when it is due or by whoever cancels it.
///
/// Sendable: whoever turns `isWorkTaken` first owns `work`, and nobody else touches it.
final class LoopTimer: @unchecked Sendable {
    /// On the monotonic clock, in nanoseconds.
    let deadline: Int64
    private let isWorkTaken = Atomic(false)
    private var work: (@Sendable () -> Void)?

    init(deadline: Int64, work: @escaping @Sendable () -> Void) {
        self.deadline = deadline
        self.work = work
    }

    var isTaken: Bool { isWorkTaken.load(ordering: .acquiring) }

    /// Nil if the timer fired or was cancelled before.
    func take() -> (@Sendable () -> Void)? {
        guard !isWorkTaken.exchange(true, ordering: .acquiringAndReleasing) else { return nil }
        defer { work = nil }
        return work
    }
}

/// The timers of a loop by deadline, and by order of setting among equal deadlines: a binary heap.
///
/// A cancelled timer stays until its deadline or until half of the heap is cancelled, whichever is first: cancelling is
/// O(1) from any thread, and ten thousand requests a second whose time-outs are all cancelled cost no memory.
struct TimerQueue {
    private struct Entry {
        let deadline: Int64
        let sequence: UInt64
        let timer: LoopTimer

        static func < (left: Entry, right: Entry) -> Bool {
            left.deadline != right.deadline ? left.deadline < right.deadline : left.sequence < right.sequence
        }
    }

    private var heap: [Entry] = []
    private var sequence: UInt64 = 0

    /// Below this size, cancelled timers are not worth looking for.
    private static let compactionCountMin = 64

    var count: Int { heap.count }

    /// The earliest deadline, which may be that of a cancelled timer; nil when there is none.
    var nextDeadline: Int64? { heap.first?.deadline }

    mutating func insert(_ timer: LoopTimer) {
        sequence += 1
        heap.append(Entry(deadline: timer.deadline, sequence: sequence, timer: timer))
        siftUp(heap.count - 1)
    }

    /// Takes the earliest timer out if it is due; it may be a cancelled one.
    mutating func popDue(at now: Int64) -> LoopTimer? {
        guard let first = heap.first, first.deadline <= now else { return nil }
        let last = heap.removeLast()
        if !heap.isEmpty {
            heap[0] = last
            siftDown(0)
        }
        return first.timer
    }

    /// Throws cancelled timers out if, by this count, they are more than half. True if it did.
    mutating func compact(cancelledCount: Int) -> Bool {
        guard cancelledCount > Self.compactionCountMin, cancelledCount > heap.count / 2 else { return false }
        heap.removeAll { $0.timer.isTaken }
        for index in stride(from: heap.count / 2 - 1, through: 0, by: -1) { siftDown(index) }
        return true
    }

    private mutating func siftUp(_ start: Int) {
        var index = start
        while index > 0 {
            let parent = (index - 1) / 2
            guard heap[index] < heap[parent] else { return }
            heap.swapAt(index, parent)
            index = parent
        }
    }

    private mutating func siftDown(_ start: Int) {
        var index = start
        while true {
            var smallest = index
            for child in [2 * index + 1, 2 * index + 2] where child < heap.count && heap[child] < heap[smallest] {
                smallest = child
            }
            guard smallest != index else { return }
            heap.swapAt(index, smallest)
            index = smallest
        }
    }
}
