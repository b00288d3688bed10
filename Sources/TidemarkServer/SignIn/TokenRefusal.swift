// SPDX-License-Identifier: Apache-2.0

internal import TidemarkTelemetry

/// The reason why a token opens no session. The texts are for developers of apps; they reveal nothing about accounts.
enum TokenRefusal: Int, Error, MetricLabel {
    static let label = "cause"

    case tooLong
    case malformed
    case issuerUnknown
    case algorithmNotAllowed
    case extensionUnknown
    case typeUnknown
    case keyUnknown
    case signatureWrong
    case audienceWrong
    case partyWrong
    case expired
    case notYetValid
    case subjectInvalid
    /// The issuer's keys have not been fetched yet, and cannot be now. Not the token's fault.
    case keysUnavailable
    /// None of the issuer's known keys has signed the token, which names no key. The issuer may have published another
    /// one since.
    case signerUnknown

    var explanation: String {
        switch self {
        case .tooLong: "The token is longer than \(JSONWebToken.bytesMax) bytes."
        case .malformed: "The token is no JSON Web Token in compact form with the members iss, sub, aud and exp."
        case .issuerUnknown: "The token is of an issuer that this server does not know."
        case .algorithmNotAllowed: "The token is signed in a way that this server does not allow for its issuer."
        case .extensionUnknown: "The token has critical extensions, and this server knows none."
        case .typeUnknown: "The token's type is neither JWT nor at+jwt."
        case .keyUnknown: "The token is signed with a key that its issuer does not publish."
        case .signatureWrong: "The token's signature is wrong."
        case .audienceWrong: "The token is meant for somebody else: its audience is not this server's."
        case .partyWrong:
            "The token has several audiences, and the client that got it (azp) is not among this server's."
        case .expired: "The token has expired. Get a new one from the identity provider."
        case .notYetValid: "The token is not valid yet. Correct the clocks of the identity provider and the server."
        case .subjectInvalid: "The token's subject must have 1 to 255 bytes and no control characters."
        case .keysUnavailable:
            "The server cannot get the identity provider's keys at the moment. Try again after the delay. If it stays so, tell "
                + "the server's operator."
        case .signerUnknown:
            "None of the identity provider's keys that the server has now has signed the token. Try again: it asks for new ones "
                + "soon."
        }
    }
}
