// SPDX-License-Identifier: Apache-2.0

/// Signing in and out, which on Apple's platforms is the system's.
///
/// Both hold for the container, for all `CKContainer` objects of its identifier, and until the process ends: an app keeps the
/// credential, and signs in before it makes its engines at the next start. Without a call the configuration's credential
/// holds.
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
