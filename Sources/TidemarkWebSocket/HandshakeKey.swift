// SPDX-License-Identifier: Apache-2.0

internal import TidemarkBytes
internal import TidemarkCrypto

/// The key that a client sends, and the response by which a server proves that it understood it (RFC 6455 §4.2.2).
enum HandshakeKey {
    private static let identifier = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"

    /// Whether `key` is the base 64 of 16 bytes.
    static func isValid(_ key: String) -> Bool {
        key.utf8.count == 24 && Base64.decode(key)?.count == 16
    }

    static func accept(_ key: String) -> String {
        Base64.encode(SHA1.hash(Array((key + identifier).utf8)))
    }
}
