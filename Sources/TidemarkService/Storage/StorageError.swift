// SPDX-License-Identifier: Apache-2.0

/// What can go wrong between a decision and its being kept.
package struct StorageError: Error, CustomStringConvertible, CustomDebugStringConvertible {
    /// The causes of the error. They say what is known of the write.
    package enum Code: String, Sendable {
        /// The store cannot be reached, or broke off before a commit was asked for: nothing was written.
        case unavailable
        /// The answer to a commit was lost: whether it took place is found in the remembered requests.
        case commitUnknown
        /// A zone's lock was not to be had in time.
        case zoneBusy
        /// What was known of a zone is not so any more: nothing was written.
        case outdated
        /// The statement itself fails, whenever it is tried: only the request that caused it may fail.
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
