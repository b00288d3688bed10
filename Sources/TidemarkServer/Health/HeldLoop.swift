// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import TidemarkSockets
internal import TidemarkTelemetry

/// Counts the turns that held an event loop, and tells an operator of long ones: everybody on the loop waited.
enum HeldLoop {
    /// A processor that worked so long for one turn is counted.
    private static let countedMin: Int64 = 5
    /// A turn with so much processor time is reported.
    private static let workedMin: Int64 = 100
    /// Turns with less processor time are reported if they take so long. On a busy machine, threads wait.
    private static let waitedMin: Int64 = 1_000
    /// A piece of work for which a processor worked so long is counted: no message may hold a loop longer.
    private static let pieceMin = Duration.milliseconds(5)
    private static let longest = Atomic<Int64>(0)
    /// How long a processor worked for the longest piece since the process began; 0: for no turn of 5 ms.
    static var longestMicroseconds: Int64 { longest.load(ordering: .relaxed) }
    /// The highest class of turns.
    private static let classMax: Int64 = 12_800

    static func note(_ turn: LongTurn, of loop: String, in log: FailureLog = .shared) {
        if milliseconds(turn.processorTime) >= countedMin { ServerMetrics.shared.heldTurns.increment() }
        if turn.longestPiece >= pieceMin { ServerMetrics.shared.longPieces.increment() }
        longest.max(microseconds(turn.longestPiece), ordering: .relaxed)
        guard let cause = cause(of: turn) else { return }
        log.note(
            .warning, "an event loop was held", cause: cause,
            [
                "loop": loop, "milliseconds": "\(milliseconds(turn.time))",
                "processor_milliseconds": "\(milliseconds(turn.processorTime))",
            ],
            request: nil)
    }

    /// A class for each doubling. So the log has a line of the longest, even if it writes one of a kind and counts the
    /// others.
    private static func cause(of turn: LongTurn) -> String? {
        let worked = milliseconds(turn.processorTime)
        guard worked >= workedMin else { return milliseconds(turn.time) >= waitedMin ? "it waited" : nil }
        var least = workedMin
        while least < classMax, least * 2 <= worked { least *= 2 }
        return "it worked for \(least) ms or more"
    }

    private static func milliseconds(_ duration: Duration) -> Int64 { microseconds(duration) / 1_000 }

    private static func microseconds(_ duration: Duration) -> Int64 {
        let (seconds, attoseconds) = duration.components
        return seconds * 1_000_000 + attoseconds / 1_000_000_000_000
    }
}
