// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Synchronization

/// Writes failures of the program itself to the log. However many there are, the log stays readable. The first of a
/// kind gets a line at once, and the others of a minute are one line with their count (``FailureLimiter``).
///
/// A failure is an event that an operator should know: the store or the disk does not work as it should. Mistakes of clients are not
/// failures. If an operator should know one all the same, it is logged here too, so that no client can fill the log.
package final class FailureLog: Sendable {
    /// Failures with the same text and cause are of one kind. Failures of requests are separate kinds, so that the line of a kind names a
    /// request whenever one has failed.
    private struct Kind: Hashable {
        let level: Log.Level
        let text: String
        let cause: String
        let isOfRequest: Bool
    }

    /// Where lines go.
    package typealias Writer = @Sendable (Log.Level, _ text: String, _ pairs: [String: String]) -> Void

    static let label = "failures"

    /// The log of the process.
    package static let shared = FailureLog(now: monotonicTime, write: Log(label).write)

    /// The most kinds that are kept apart at once.
    private static let kindsMax = 64

    private let limiter: Mutex<FailureLimiter<Kind>>
    private let now: @Sendable () -> Duration
    private let write: Writer

    /// - Parameters:
    ///   - now: monotonic time.
    ///   - write: writes one line.
    package init(interval: Duration = .seconds(60), now: @escaping @Sendable () -> Duration, write: @escaping Writer) {
        limiter = Mutex(FailureLimiter(interval: interval, kindsMax: Self.kindsMax))
        self.now = now
        self.write = write
    }

    /// Takes in a failure, and writes it if it is the first of its kind.
    ///
    /// - Parameters:
    ///   - text: what happened.
    ///   - cause: what tells kinds with the same text apart. One of few.
    ///   - pairs: no secrets, and nothing that users have stored.
    ///   - request: the request that failed, or one of them.
    package func note(
        _ level: Log.Level, _ text: StaticString, cause: String,
        _ pairs: @autoclosure () -> [String: String] = [:], request: RequestTrace? = RequestTrace.current
    ) {
        let kind = Kind(level: level, text: "\(text)", cause: cause, isOfRequest: request != nil)
        let now = now()
        guard case .write(let earlier) = limiter.withLock({ $0.note(kind, at: now) }) else { return }
        var all = pairs()
        all["cause"] = cause
        if let request { all["request"] = "\(request.uuid)" }
        if earlier > 0 { all["earlier"] = "\(earlier)" }
        write(level, kind.text, all)
    }

    /// Writes the counts that are due. Call it every few seconds.
    package func writeCounts() {
        let now = now()
        write(limiter.withLock { $0.due(at: now) })
    }

    /// Writes all counts. Call it before the program ends.
    package func end() {
        let now = now()
        write(limiter.withLock { $0.end(at: now) })
    }

    private func write(_ all: [FailureLimiter<Kind>.Repeats]) {
        for repeats in all {
            let seconds = repeats.time.components.seconds
            write(
                repeats.kind?.level ?? .warning, repeats.kind?.text ?? "other failures",
                [
                    "cause": repeats.kind?.cause ?? "many kinds", "repeats": "\(repeats.count)",
                    "seconds": "\(seconds)",
                ])
        }
    }

    private static func monotonicTime() -> Duration {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}
