// SPDX-License-Identifier: Apache-2.0

internal import TidemarkBytes
internal import TidemarkCrypto

/// What opens a session: 256 random bits as text. The server stores only its SHA-256, so it can be shown once.
package struct Credential: Sendable, Equatable {
    /// Begins with `tidemark_`, so that scanners of source code find one that was committed by mistake.
    package let text: String

    package init(text: String) {
        self.text = text
    }

    /// A new one that nobody can guess.
    package static func make() -> Credential {
        Credential(text: "tidemark_" + Base64.encodeURLSafe(SecureRandom.bytes(32)))
    }

    /// How it is stored and looked up. No salt and no slow hash: there is nothing to guess in 256 random bits.
    package var hash: [UInt8] { Self.hash(Array(text.utf8)) }

    package static func hash(_ bytes: [UInt8]) -> [UInt8] {
        SHA256.hash(bytes)
    }
}
