// SPDX-License-Identifier: Apache-2.0

/// What can go wrong between a decision and its durable write.
package struct StorageError: Error, CustomStringConvertible, CustomDebugStringConvertible {
    /// The causes of the error. They say what is known of the write.
    package enum Code: String, Sendable {
        /// The store cannot be reached, or the connection broke before a commit was requested: nothing was written.
        case unavailable
        /// The answer to a commit was lost. The remembered requests tell whether it took place.
        case commitUnknown
        /// A zone's lock was not available in time.
        case zoneBusy
        /// Cached knowledge of a zone is no longer true: nothing was written.
        case outdated
        /// The statement itself fails, however often it is tried. Only the request that caused it may fail.
        case rejected
        case containerUnknown
        /// The server is stopping.
        case stopped
    }

    package let code: Code
    /// For the log; may hold names of tables and constraints, never user data.
    package let detail: String

    package init(_ code: Code, detail: String = "") {
        self.code = code
        self.detail = detail
    }

    package var description: String { code.rawValue }
    package var debugDescription: String { "\(code.rawValue): \(detail)" }
}
