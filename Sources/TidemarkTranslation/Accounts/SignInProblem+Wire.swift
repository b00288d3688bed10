// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkWire

extension WireSignInProblem {
    init(_ problem: SignInProblem) {
        self =
            switch problem {
            case .credentialUnknown: .credentialUnknown
            case .credentialExpired: .credentialExpired
            case .credentialRevoked: .credentialRevoked
            case .accountDisabled: .accountDisabled
            case .deviceRevoked: .deviceRevoked
            case .tokenInvalid: .tokenInvalid
            case .identityUnknown: .identityUnknown
            }
    }
}
