// SPDX-License-Identifier: Apache-2.0

/// The reason why there is no credential.
package enum AccountAbsence: Sendable, Equatable {
    /// Somebody has signed out. An app then releases what belongs to the account.
    case signedOut
    /// The configuration does not say who is signed in; the text lists the places where the library looked. This does
    /// not sign the user out: a variable was forgotten, or a file is missing. The data on the device still belongs to
    /// somebody.
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
