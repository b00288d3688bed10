// SPDX-License-Identifier: Apache-2.0

/// How long a request waits for its answer. As with `timeoutIntervalForRequest` of URL loading, the time starts
/// again whenever bytes arrive. Times are of one clock, as in ``CloudConnection/now``.
struct RequestPatience {
    /// When the request was made.
    let start: Duration
    /// How long nothing may move.
    let timeout: Duration
    /// How long it may take in all, while something moves.
    let whole: Duration

    /// A request that takes longer on a slow network is better sent in parts.
    private static let timeoutsMax = 10

    /// - Parameter within: the time for all that the request is a part of; nil: no end.
    init(start: Duration, timeout: Duration, within: Duration? = nil) {
        self.start = start
        let whole = timeout * Self.timeoutsMax
        self.whole = max(.zero, within.map { min($0, whole) } ?? whole)
        self.timeout = min(timeout, self.whole)
    }

    /// How long to wait from now on; nil: its time is over.
    ///
    /// - Parameter lastProgress: when bytes of a message last moved on the connection.
    func rest(at now: Duration, lastProgress: Duration?) -> Duration? {
        let quietEnd = max(start, lastProgress ?? start) + timeout
        let rest = min(quietEnd, start + whole) - now
        return rest > .zero ? rest : nil
    }
}
