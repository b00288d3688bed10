// SPDX-License-Identifier: Apache-2.0

/// Signing in and out, which the system does on Apple's platforms.
///
/// Both apply to the container, to all `CKContainer` objects of its identifier, and to later starts of the user's
/// programs with it. The credential is kept in a file that only its owner can read
/// (`TidemarkConfiguration.credentialFile`). It is sent only to the server for which it was given. A credential in the
/// configuration wins when a program starts, and until the program signs in or out.
///
/// Signing out is remembered too, and nothing else counts as a sign-out. If a program starts without a credential
/// because a variable was forgotten, its account could not be determined. If the file cannot be written, the
/// log says so, and the sign-in lasts until the process ends.
extension CKContainer {
    /// Signs in. If somebody else is signed in, switches to the account of this credential. A fresh credential of the
    /// same account replaces the old one, and nothing else happens.
    ///
    /// Returns at once; ``accountStatus()`` tells whether the server knows the credential. Requests under way fail with
    /// `operationCancelled`, so that nothing of one account is sent to another. Sync engines tell their delegates of
    /// the change. `CKAccountChanged` is posted before this returns.
    ///
    /// - Parameter token: as `tidemark admin credentials create` printed it.
    public func signIn(token: String) {
        context.changeCredential(token)
    }

    /// Signs in with tokens of an identity provider (OpenID Connect; R-928). Otherwise as ``signIn(token:)``.
    ///
    /// The closure is called before each attempt to connect, on no particular thread. It gives a token that is valid now: one that it
    /// keeps, or a fresh one. A session ends when its token has expired, and goes on at once with the next one. No change is lost, and the
    /// account does not change. If the closure throws or takes more than 30 seconds, requests fail with `networkUnavailable`, and it is
    /// called again later.
    ///
    /// Nothing is kept for the next start: call this at each start, before engines are made. The server's operator must have
    /// named the provider (`tidemark serve --issuers`).
    ///
    /// - Parameter tokens: gives a token, such as an access token or ID token in compact form. All tokens must be of one person.
    public func signIn(tokens: @escaping @Sendable () async throws -> String) {
        context.changeCredential(tokens: tokens)
    }

    /// Signs out. Connections end, and sync engines tell their delegates. Until the next ``signIn(token:)``,
    /// private and shared data are not available. `CKAccountChanged` is posted before this returns.
    public func signOut() {
        context.changeCredential("")
    }
}
