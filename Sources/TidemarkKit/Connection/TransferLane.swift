// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Chooses the size of asset chunks by the time of the last ones. A chunk is large enough to use a fast network. It is
/// small enough that a request behind them does not wait long on a slow one.
struct TransferPace: Equatable {
    static let chunkBytesMin = 16_384
    static let chunkBytesMax = 524_288

    private(set) var chunkBytes = 65_536
    /// The server's limit, if it is lower.
    private var takenBytesMax = Self.chunkBytesMax
    /// The network's own share of every time.
    private var shortest: Duration?

    private static let fast: Duration = .milliseconds(60)
    private static let slow: Duration = .milliseconds(250)

    /// A chunk, sent while others were under way too, has been answered.
    mutating func answered(after time: Duration) {
        let shortest = min(self.shortest ?? time, time)
        self.shortest = shortest
        if time - shortest < Self.fast {
            chunkBytes = min(chunkBytes * 2, takenBytesMax)
        } else if time - shortest > Self.slow {
            chunkBytes = max(chunkBytes / 2, min(Self.chunkBytesMin, takenBytesMax))
        }
    }

    /// The server accepts chunks of at most this many bytes.
    mutating func limit(to byteCount: Int) {
        takenBytesMax = min(byteCount, Self.chunkBytesMax)
        chunkBytes = min(chunkBytes, takenBytesMax)
    }
}

/// Bounds the asset chunks that one connection carries at a time, for all transfers together. It bounds the memory for
/// them, and how many may be ahead of another request.
final class TransferLane: Sendable {
    /// The right to send one chunk. Always return it with ``leave(_:isAnswered:)``.
    struct Place {
        let chunkBytes: Int
        let since: Duration
    }

    private struct Waiter {
        let number: UInt64
        /// Told whether there is a place for it.
        let task: WaitingTask<Bool>
    }

    private struct State {
        var pace = TransferPace()
        var free = TransferLane.places
        /// In the order of arrival.
        var waiters: [Waiter] = []
        var waiterNumber: UInt64 = 0

        /// - Returns: whether there is a place; nil if the waiter is told later.
        mutating func enter(_ waiter: Waiter) -> Bool? {
            // A waiter that was cancelled before this gets no call.
            guard !Task.isCancelled else { return false }
            guard free > 0, waiters.isEmpty else {
                waiters.append(waiter)
                return nil
            }
            free -= 1
            return true
        }
    }

    static let places = 3

    private let now: @Sendable () -> Duration
    private let state = Mutex(State())

    init(now: @escaping @Sendable () -> Duration) {
        self.now = now
    }

    /// As ``TransferPace/limit(to:)``; another server may accept more again.
    func limitChunks(to byteCount: Int) {
        state.withLock { $0.pace.limit(to: byteCount) }
    }

    /// A place at once, or nil. Transfers that already hold a place must use this: if they waited for each other, they
    /// would wait for ever.
    func tryEnter() -> Place? {
        let now = now()
        return state.withLock { state in
            guard state.free > 0, state.waiters.isEmpty else { return nil }
            state.free -= 1
            return Place(chunkBytes: state.pace.chunkBytes, since: now)
        }
    }

    /// Waits for a place, in order.
    ///
    /// - Throws: `operationCancelled` at once when the task is or gets cancelled. Then no place is taken.
    func enter() async throws(CKError) -> Place {
        let number = state.withLock { state in
            state.waiterNumber += 1
            return state.waiterNumber
        }
        let hasPlace = await withTaskCancellationHandler {
            await withWaitingTask { task in
                let answer = state.withLock { $0.enter(Waiter(number: number, task: task)) }
                if let answer { task.resume(returning: answer) }
            }
        } onCancel: {
            giveUp(number)
        }
        guard hasPlace else { throw CKError(.operationCancelled) }
        return Place(chunkBytes: state.withLock { $0.pace.chunkBytes }, since: now())
    }

    private func giveUp(_ number: UInt64) {
        let waiter = state.withLock { state -> Waiter? in
            guard let index = state.waiters.firstIndex(where: { $0.number == number }) else { return nil }
            return state.waiters.remove(at: index)
        }
        waiter?.task.resume(returning: false)
    }

    /// - Parameter isAnswered: whether the time of the chunk says anything about the network.
    func leave(_ place: Place, isAnswered: Bool) {
        let time = now() - place.since
        let next = state.withLock { state -> Waiter? in
            if isAnswered { state.pace.answered(after: time) }
            guard state.waiters.isEmpty else { return state.waiters.removeFirst() }
            state.free += 1
            return nil
        }
        next?.task.resume(returning: true)
    }
}
