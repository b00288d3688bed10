// SPDX-License-Identifier: Apache-2.0

/// What can go wrong between this process and PostgreSQL.
package struct PostgresError: Error, CustomStringConvertible, CustomDebugStringConvertible {
    /// The causes of the error. They tell a caller whether it may try again.
    package enum Code: Sendable, Equatable {
        /// The connection ended while the batch was under way.
        case connectionLost
        /// No connection could be made, or none became free, before the deadline.
        case connectionUnavailable
        /// The server did not answer before the deadline. The connection was closed, unless others share it.
        case timeout
        /// Too many callers wait for a connection already.
        case poolExhausted
        /// The pool or connection was stopped.
        case stopped
        /// The task was cancelled before the batch was sent.
        case cancelled
        /// The server refused a statement. The connection remains usable.
        case statement(SQLState)
        /// The connection string cannot be parsed.
        case invalidURL
        /// A row does not have the column, the type or the value that the caller expects.
        case unexpectedResult
        /// libpq or the server did something that it should not.
        case protocolViolation
    }

    package let code: Code
    /// The index of the failed statement in the batch, from 0.
    package var statementIndex: Int?
    /// The constraint that a statement violated.
    package var constraint: String?
    /// The connection ended after a COMMIT was sent and before its answer arrived. Whether it took place is unknown,
    /// and can be found out by reading.
    package var isCommitOutcomeUnknown = false
    /// For a `timeout`: what was waited for, and where. For a `statement`: its name. No user data, no secrets.
    package var subject: String?
    /// The server's message and the statement's name. It may hold user data.
    package var detail: String

    package init(_ code: Code, subject: String? = nil, detail: String = "") {
        self.code = code
        self.subject = subject
        self.detail = detail
    }

    /// Whether the same request may succeed a moment later.
    package var isRetryable: Bool {
        switch code {
        case .connectionLost, .connectionUnavailable, .timeout, .poolExhausted: true
        case .statement(let state):
            state.endsConnection
                || [.serializationFailure, .deadlockDetected, .lockNotAvailable, .tooManyConnections].contains(state)
        case .stopped, .cancelled, .invalidURL, .unexpectedResult, .protocolViolation: false
        }
    }

    package var description: String {
        switch code {
        case .connectionLost: "The connection to PostgreSQL was lost."
        case .connectionUnavailable: "PostgreSQL cannot be reached."
        case .timeout:
            "PostgreSQL did not answer in time\(subject.map { ": \($0)" } ?? ""). If it goes on, look in pg_stat_activity there "
                + "for what is waited for: a lock, the disk, or too little of the processor."
        case .poolExhausted: "Too many requests wait for PostgreSQL."
        case .stopped: "The connections to PostgreSQL are closed."
        case .cancelled: "The request to PostgreSQL was cancelled."
        case .statement(let state): "PostgreSQL refused a statement (\(state))."
        case .invalidURL: "The connection string for PostgreSQL is not valid."
        case .unexpectedResult: "PostgreSQL's answer does not have the expected columns."
        case .protocolViolation: "The conversation with PostgreSQL went wrong."
        }
    }

    package var debugDescription: String {
        var text = description
        if let statementIndex { text += " statement=\(statementIndex)" }
        if let constraint { text += " constraint=\(constraint)" }
        if isCommitOutcomeUnknown { text += " commit=unknown" }
        return detail.isEmpty ? text : text + " " + detail
    }

    /// Which failures are alike: the code, and PostgreSQL's own code.
    package var kind: String {
        if case .statement(let state) = code { "statement \(state)" } else { "\(code)" }
    }

    /// The error without what users have stored, for the log.
    package var textForLog: String {
        guard case .statement(let state) = code else { return debugDescription }
        var error = self
        if state.mayQuoteData { error.detail = "" }
        return [error.debugDescription, subject].compactMap(\.self).joined(separator: " ")
    }
}
