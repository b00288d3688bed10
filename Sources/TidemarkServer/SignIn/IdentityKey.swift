// SPDX-License-Identifier: Apache-2.0

internal import TidemarkCrypto

/// Under what an identity of a provider is stored among the credentials.
///
/// It has 33 bytes. A credential is stored under the 32 bytes of its SHA-256, so nobody can show a credential that is found
/// here, whatever is in it.
package enum IdentityKey {
    /// The same for each sign-in of this person, whichever token they show.
    package static func bytes(issuer: String, subject: String) -> [UInt8] {
        let issuer = Array(issuer.utf8)
        // The length tells where the issuer ends.
        let length = withUnsafeBytes(of: UInt64(issuer.count).bigEndian, Array.init)
        return [1] + SHA256.hash(length + issuer + Array(subject.utf8))
    }
}
