// SPDX-License-Identifier: Apache-2.0

package import TidemarkFairness
package import TidemarkTelemetry

/// A failure between a decision and its durable write.
package struct StorageError: Error, CustomStringConvertible, CustomDebugStringConvertible {
    /// The causes of the error. They say whether the write may have happened.
    package enum Code: String, Sendable {
        /// The store cannot be reached, or the connection broke before a commit was requested: nothing was written.
        case unavailable
        /// The answer to a commit was lost. The remembered requests tell whether it took place.
        case commitUnknown
        /// A zone's lock was not available in time.
        case zoneBusy
        /// Cached data of a zone is no longer true: nothing was written.
        case outdated
        /// The store stopped a statement that took too long: nothing was written. Trying again at once would only take
        /// as long again.
        case tooSlow
        /// The statement itself fails, however often it is tried. Only the request that caused it may fail.
        case rejected
        /// Several requests together need more than one transaction reads: nothing was written. Each of them can be decided alone.
        case groupTooLarge
        case containerUnknown
        /// An operator deletes the container: nothing was written.
        case containerClosed
        /// A query needs a mark that it may not make (`QueryPageQuery.mayMark`).
        case notMarked
        /// The query takes longer than one may.
        case queryTooSlow
        /// The owner's turn did not come, because others wait as well.
        case crowded
        /// The server is stopping.
        case stopped
    }

    package let code: Code
    /// For the log; may hold names of tables and constraints, never user data.
    package let detail: String
    /// The group of similar errors within one code, for the log. One of few values.
    package let kind: String
    /// For `crowded`: when to try again.
    package let retryAfter: Duration?

    /// - Parameter kind: nil if `detail` is the same for all errors of the kind.
    package init(_ code: Code, kind: String? = nil, detail: String = "", retryAfter: Duration? = nil) {
        self.code = code
        self.kind = kind ?? detail
        self.detail = detail
        self.retryAfter = retryAfter
    }

    /// An owner's turn did not come.
    package init(_ refusal: WorkRefusal) {
        self.init(.crowded, detail: refusal.description, retryAfter: refusal.retryAfter)
    }

    package var description: String { code.rawValue }
    package var debugDescription: String { "\(code.rawValue): \(detail)" }
}

extension StorageError {
    /// Tells the operator, except in the ordinary course of things. The code that catches an error of the store calls it.
    ///
    /// - Parameters:
    ///   - request: the request that failed, or one of them.
    ///   - requestCount: the number of requests that failed with it.
    package func note(request: RequestTrace? = RequestTrace.current, requestCount: Int = 1) {
        let level: Log.Level
        switch code {
        case .unavailable, .commitUnknown, .zoneBusy, .tooSlow: level = .warning
        case .rejected: level = .error
        case .outdated, .groupTooLarge, .containerUnknown, .containerClosed, .notMarked, .queryTooSlow, .crowded,
            .stopped:
            return
        }
        FailureLog.shared.note(
            level, "the store failed", cause: kind.isEmpty ? code.rawValue : "\(code.rawValue), \(kind)",
            requestCount == 1
                ? ["error": detail, "advice": advice]
                : ["error": detail, "advice": advice, "requests": "\(requestCount)"], request: request)
    }

    /// Advice for an operator.
    private var advice: String {
        switch code {
        case .unavailable, .commitUnknown:
            "check that PostgreSQL runs and can be reached; devices keep their changes and try again"
        case .zoneBusy: "look for long transactions in pg_stat_activity; devices try again"
        case .tooSlow: "look in pg_stat_activity for what statements wait for; devices try again"
        case .rejected:
            "look into PostgreSQL's own log at this time; if nobody changed the tables beside the servers, report it"
        case .outdated, .groupTooLarge, .containerUnknown, .containerClosed, .notMarked, .queryTooSlow, .crowded,
            .stopped:
            ""
        }
    }
}
