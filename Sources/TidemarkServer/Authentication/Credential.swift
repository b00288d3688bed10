// SPDX-License-Identifier: Apache-2.0

internal import TidemarkBytes
internal import TidemarkCrypto

/// The secret that opens a session: 256 random bits as text. The server stores only its SHA-256, so it can be shown
/// only once.
package struct Credential: Sendable, Equatable {
    /// Begins with `tidemark_`, so that scanners of source code find a credential that was committed by mistake.
    package let text: String

    package init(text: String) {
        self.text = text
    }

    /// A new random credential.
    package static func make() -> Credential {
        Credential(text: "tidemark_" + Base64.encodeURLSafe(SecureRandom.bytes(32)))
    }

    /// The hash under which it is stored and found. It needs neither a salt nor a slow hash, because 256 random bits
    /// cannot be guessed.
    package var hash: [UInt8] { Self.hash(Array(text.utf8)) }

    package static func hash(_ bytes: [UInt8]) -> [UInt8] {
        SHA256.hash(bytes)
    }
}
