// SPDX-License-Identifier: Apache-2.0

internal import TidemarkPostgres
internal import TidemarkService

extension StorageError {
    /// What an error of PostgreSQL means for a caller of the store.
    ///
    /// - Parameter duringCommit: whether the failed batch held a COMMIT, or was a transaction by itself.
    init(_ error: PostgresError, duringCommit: Bool) {
        self.init(Self.code(of: error, duringCommit: duringCommit), kind: error.kind, detail: error.textForLog)
    }

    private static func code(of error: PostgresError, duringCommit: Bool) -> Code {
        switch error.code {
        case .connectionLost, .timeout:
            duringCommit ? .commitUnknown : .unavailable
        case .statement(let state) where state == .lockNotAvailable || state == .deadlockDetected:
            .zoneBusy
        case .statement(.queryCancelled):
            .tooSlow
        case .statement where error.isRetryable:
            .unavailable
        case .statement, .unexpectedResult, .invalidURL, .protocolViolation:
            .rejected
        case .connectionUnavailable, .poolExhausted, .cancelled:
            .unavailable
        case .stopped:
            .stopped
        }
    }
}
