// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// One timer of a loop. Its work is taken exactly once: by the loop when it is due, or by the caller that cancels it.
///
/// Sendable: the first to set `isWorkTaken` owns `work`, and nobody else touches it.
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

    /// Nil if the timer has fired or was cancelled before.
    func take() -> (@Sendable () -> Void)? {
        guard !isWorkTaken.exchange(true, ordering: .acquiringAndReleasing) else { return nil }
        defer { work = nil }
        return work
    }
}

/// The timers of a loop by deadline, and by order of creation among equal deadlines: a binary heap.
///
/// A cancelled timer stays until its deadline, or until half of the heap is cancelled, whichever is first. So
/// cancelling is O(1) from any thread, and ten thousand requests a second whose time-outs are all cancelled cost no
/// memory.
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

    /// Below this size it is not worth looking for cancelled timers.
    private static let compactionCountMin = 64

    /// The number of timers, with cancelled ones that have not been removed yet.
    var count: Int { heap.count }

    /// The earliest deadline, which may be that of a cancelled timer; nil if there is none.
    var nextDeadline: Int64? { heap.first?.deadline }

    mutating func insert(_ timer: LoopTimer) {
        sequence += 1
        heap.append(Entry(deadline: timer.deadline, sequence: sequence, timer: timer))
        siftUp(heap.count - 1)
    }

    /// Removes and returns the earliest timer if it is due. It may be cancelled.
    mutating func popDue(at now: Int64) -> LoopTimer? {
        guard let first = heap.first, first.deadline <= now else { return nil }
        let last = heap.removeLast()
        if !heap.isEmpty {
            heap[0] = last
            siftDown(0)
        }
        return first.timer
    }

    /// Removes cancelled timers if, by this count, they are more than half. Returns whether it did.
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
