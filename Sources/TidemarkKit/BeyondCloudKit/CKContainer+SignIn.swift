// SPDX-License-Identifier: Apache-2.0

/// Signing in and out, which on Apple's platforms is the system's.
///
/// Both hold for the container, for all `CKContainer` objects of its identifier, and for later starts of the user's programs
/// with it: the credential is kept in a file that only its owner can read (`TidemarkConfiguration.credentialFile`), for the
/// server that it was given for and no other. A configuration that names a credential comes first when a program starts, and
/// until it signs in or out. Signing out is remembered too, and nothing else counts as such: a program that starts without a
/// credential, because a variable was forgotten, has an account that could not be determined. If the file cannot be written, the log says so, and who signed in is so until the process ends.
extension CKContainer {
    /// Signs in; if somebody else is signed in, switches to the account of this credential. A fresh credential of the
    /// account that is signed in replaces the old one, and nothing else happens.
    ///
    /// Returns at once: ``accountStatus()`` tells whether the server knows the credential. Requests under way fail with
    /// `operationCancelled`: nothing of one account is ever sent to another. Sync engines tell their delegates of the
    /// change; `CKAccountChanged` is posted before this returns.
    ///
    /// - Parameter token: as `tidemark admin credentials issue` showed it.
    public func signIn(token: String) {
        context.changeCredential(token)
    }

    /// Signs out: connections end, sync engines tell their delegates, and until the next ``signIn(token:)``
    /// private and shared data are out of reach. `CKAccountChanged` is posted before this returns.
    public func signOut() {
        context.changeCredential("")
    }
}
