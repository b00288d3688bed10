// SPDX-License-Identifier: Apache-2.0

/// Finds the longest piece of work in a turn of a loop, by the time that a processor worked for it: a pure value. All times are in
/// nanoseconds. The work between two readings is a piece.
///
/// On a busy machine a thread waits for a processor, so the clock on the wall tells little of what a message costs. The clock of a thread's
/// processor time is a system call. So it is read once in a millisecond at most, and after a piece that took so long. The time worked
/// between that reading and the beginning of the piece is unknown, so all of that interval is assumed to be work. So a piece is never
/// reported as longer than it was, and at most a millisecond shorter.
struct PieceWatch {
    /// How old a reading of the processor time may be with which a piece begins. Shorter pieces are not looked at.
    static let readingAgeMax: Int64 = 1_000_000

    private var start: Int64 = 0
    private var reading: (at: Int64, processor: Int64) = (.min, 0)
    /// The longest of the turn so far; 0: none took a millisecond.
    private(set) var longest: Int64 = 0

    /// A turn begins. The thread may have slept before.
    mutating func begin(at now: Int64, processor: @autoclosure () -> Int64) {
        (start, longest) = (now, 0)
        if isOld(at: now) { reading = (now, processor()) }
    }

    /// A piece has ended, and the next one begins.
    mutating func look(at now: Int64, processor: @autoclosure () -> Int64) {
        if now - start >= Self.readingAgeMax {
            let after = processor()
            let unknown = start - reading.at
            longest = max(longest, min(now - start, after - reading.processor - unknown))
            reading = (now, after)
        } else if isOld(at: now) {
            reading = (now, processor())
        }
        start = now
    }

    private func isOld(at now: Int64) -> Bool { reading.at == .min || now - reading.at >= Self.readingAgeMax }
}
