// SPDX-License-Identifier: Apache-2.0

/// Why there is no credential.
package enum AccountAbsence: Sendable, Equatable {
    /// Somebody has signed out: an app lets go of what belongs to their account.
    case signedOut
    /// Nobody has said who is signed in; the text says what was looked at. That is no sign-out. A variable was forgotten, or
    /// a file is not there: what the device keeps still belongs to somebody.
    case notConfigured(String)
}

extension CKError {
    /// private and shared data need an account.
    static func noAccount(_ absence: AccountAbsence) -> CKError {
        switch absence {
        case .signedOut:
            CKError(.notAuthenticated, text: "This device is signed out. Call CKContainer.signIn(token:).")
        case .notConfigured(let why):
            CKError(.notAuthenticated, text: "It is not known who is signed in: \(why)")
        }
    }
}
