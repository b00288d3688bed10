// SPDX-License-Identifier: Apache-2.0

internal import TidemarkCrypto
package import TidemarkTransport

/// An identity provider whose tokens a server takes, as its operator describes it.
package struct Issuer: Sendable, Equatable {
    /// Where its keys are.
    package enum Keys: Sendable, Equatable {
        /// At the address that its own description names (OpenID Connect Discovery §4).
        case discovered(HTTPAddress)
        case url(HTTPAddress)
        case file(String)
    }

    /// The users who get a role of a container, by the values of a claim.
    package struct Roles: Sendable, Equatable {
        /// The claim's name, or several, from the outside to the inside.
        package let claim: [String]
        /// Roles by the claim's value. Values that are not in it give nothing.
        package let byValue: [String: String]
        /// The containers whose roles are meant, by identifier.
        package let containers: [String]
    }

    /// Exactly what the tokens say.
    package let name: String
    package let keys: Keys
    /// A token must be for one of these.
    package let audiences: [String]
    let algorithms: [SignatureAlgorithm]
    /// Whether an unknown person gets an account.
    package let createsAccounts: Bool
    /// The beginning of the names of such accounts.
    package let accountPrefix: String
    /// Whether a verified e-mail address of a token becomes one of the account's.
    package let trustsEmail: Bool
    /// The same for a telephone number.
    package let trustsPhone: Bool
    package let roles: Roles?
    /// PEM: an authority of the provider's certificate besides the system's.
    package let authorityFile: String?
}
