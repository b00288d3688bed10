// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain

/// Judges credentials that somebody else has issued: tokens of identity providers. Sessions need no cryptography and
/// no network for it.
package protocol TokenJudge: Sendable {
    /// It may wait some seconds for the keys of a provider. It asks no store.
    ///
    /// - Parameter credential: as the client sent it.
    func judge(_ credential: [UInt8], now: Timestamp) async -> TokenVerdict
}

/// What a credential is.
package enum TokenVerdict: Sendable {
    /// No token: the store may know it.
    case noToken
    case accepted(any TokenHolder)
    case refused(SignInProblem, String)
    /// It cannot be said now. The client should try again.
    case unavailable(String)
    /// No key that is known has signed it. The client should try again, and this was a failed try: otherwise whoever
    /// makes tokens up could have as many looked at as he likes.
    case undecided(String)
}

/// Somebody whose token counts.
package protocol TokenHolder: Sendable {
    /// Under which the store knows this person, in place of a credential's hash. No credential has it.
    var key: [UInt8] { get }
    /// When the session ends.
    var end: Timestamp { get }

    /// Creates the account of this person, if there is none and the operator wants it.
    ///
    /// - Returns: whether the person may have an account now. Nil: the store has failed.
    func makeAccount() async -> Bool?

    /// Stores what the token says of the person beside the identity: roles in the container, and addresses.
    ///
    /// - Returns: false if the roles could not be stored. Then no session may open: a role that was taken away would last.
    func settle(as identity: Identity, in container: ContainerKey) async -> Bool
}
