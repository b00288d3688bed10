// SPDX-License-Identifier: Apache-2.0

/// One turn of an event loop that took 5 ms or more. No piece of its work took longer.
package struct LongTurn: Sendable, Equatable {
    /// From the return of epoll to the end.
    package let time: Duration
    /// How long a processor worked for the loop meanwhile, and at most 10 ms too much. For the rest the thread waited: for a
    /// processor, a lock or a disk.
    package let processorTime: Duration
    /// The least processor time of its longest piece: an event of a socket, a job of a lane, or up to eight pieces of other work. It may
    /// have been a millisecond more (``PieceWatch``).
    package var longestPiece: Duration

    package init(time: Duration, processorTime: Duration, longestPiece: Duration = .zero) {
        self.time = time
        self.processorTime = processorTime
        self.longestPiece = longestPiece
    }
}

/// Finds the turns of a loop that take long: a pure value. All times are in nanoseconds.
///
/// The clock of a thread's processor time is a system call. So it is read only if it was not read for 10 ms, and after a
/// long turn, which is rare unless the loop is busy.
struct TurnWatch {
    /// A turn that takes so long is long: as long as no message may hold a loop.
    static let longMin: Int64 = 5_000_000
    /// How old the reading of the processor time may be that a turn begins with.
    static let readingAgeMax: Int64 = 10_000_000

    private var start: Int64 = 0
    private var reading: (at: Int64, processor: Int64)?

    mutating func begin(at now: Int64, processor: @autoclosure () -> Int64) {
        start = now
        if let reading, now - reading.at < Self.readingAgeMax { return }
        reading = (now, processor())
    }

    /// - Returns: the turn, if it was long.
    mutating func end(at now: Int64, processor: @autoclosure () -> Int64) -> LongTurn? {
        let time = now - start
        guard time >= Self.longMin, let before = reading else { return nil }
        let processor = processor()
        reading = (now, processor)
        return LongTurn(
            time: .nanoseconds(time), processorTime: .nanoseconds(min(time, processor - before.processor)))
    }
}
