// SPDX-License-Identifier: Apache-2.0

/// The reason why a credential opens no session. Only the client that shows the credential gets it.
package enum SignInProblem: Sendable, Equatable, CaseIterable {
    /// No account has it, or its account is gone.
    case credentialUnknown
    case credentialExpired
    case credentialRevoked
    case accountDisabled
    case deviceRevoked
    /// A token of an identity provider that does not count here.
    case tokenInvalid
    /// The token is valid, but no account belongs to its person.
    case identityUnknown

    /// For the developer of the client.
    package var text: String {
        switch self {
        case .credentialUnknown: "The credential is unknown, expired or revoked."
        case .credentialExpired: "The credential has expired. Sign in again."
        case .credentialRevoked: "The credential was revoked. Sign in with another one."
        case .accountDisabled: "The account is disabled. Ask the operator of the server."
        case .deviceRevoked: "This device may not sign in any more. Ask the operator of the server."
        case .tokenInvalid: "The token does not count here."
        case .identityUnknown:
            "The token is valid, and no account belongs to its issuer and subject. Ask the operator of the server."
        }
    }
}
