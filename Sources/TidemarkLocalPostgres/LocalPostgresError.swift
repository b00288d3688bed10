// SPDX-License-Identifier: Apache-2.0

/// Why a private PostgreSQL could not be started, or a program of PostgreSQL's not be run.
package struct LocalPostgresError: Error, CustomStringConvertible, CustomDebugStringConvertible {
    /// The step that failed.
    package enum Code: Sendable, Equatable {
        /// No directory has both `initdb` and `postgres` in it.
        case binariesNotFound
        /// This process is root, and the user for PostgreSQL does not exist.
        case userNotFound
        /// Another process runs a PostgreSQL in the directory.
        case directoryInUse
        /// The directory belongs to another user, or cannot be created, opened or written.
        case directoryNotUsable
        /// `initdb` failed.
        case initializationFailed
        /// PostgreSQL repeatedly ended before it accepted connections, or did not accept them in time.
        case startFailed
        /// No directory has the program, or only versions that are too old (``PostgresTool``).
        case toolNotFound
        /// The program could not be started, or it failed.
        case toolFailed
    }

    package let code: Code
    /// What is wrong and what to do about it; safe to show.
    package let description: String
    /// The end of the log or the name of the system's error, if there is one.
    package let detail: String

    init(_ code: Code, _ description: String, detail: String = "") {
        self.code = code
        self.description = description
        self.detail = detail
    }

    package var debugDescription: String { detail.isEmpty ? description : "\(description)\n\(detail)" }
}
