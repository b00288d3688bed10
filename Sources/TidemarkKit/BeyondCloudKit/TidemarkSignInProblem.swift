// SPDX-License-Identifier: Apache-2.0

/// With errors of a refused credential: why, as the raw value of a ``TidemarkSignInProblem``.
public let TidemarkErrorSignInProblemKey = "TidemarkSignInProblem"

/// Why the server refuses a credential. CloudKit does not say.
///
/// Each of them sets the account's status to `temporarilyUnavailable`, and the device keeps its unsent changes. A full quota is not such a
/// problem: saves fail with `quotaExceeded`.
public enum TidemarkSignInProblem: Int, Sendable {
    /// Nobody has the credential, or its account is gone. Sign in again.
    case credentialUnknown = 1
    /// The credential, or the token of an identity provider, has expired. Sign in again.
    case credentialExpired = 2
    /// An operator has revoked the credential. Sign in with another one.
    case credentialRevoked = 3
    /// An operator has disabled the account. Only an operator can help.
    case accountDisabled = 4
    /// An operator has revoked this device. Only an operator can help.
    case deviceRevoked = 5
    /// The server does not take the token: its issuer, audience or signature is wrong. The error's text says what.
    case tokenInvalid = 6
    /// The token is valid, and nobody has an account for its issuer and subject.
    case identityUnknown = 7
}

extension CKError {
    /// Why the server refused the credential.
    ///
    /// Nil if there was no problem, or if the reason is unknown. An older server does not give it, and this version of the library may not
    /// know it.
    public var signInProblem: TidemarkSignInProblem? {
        (userInfo[TidemarkErrorSignInProblemKey] as? Int).flatMap(TidemarkSignInProblem.init(rawValue:))
    }
}
