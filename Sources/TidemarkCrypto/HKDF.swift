// SPDX-License-Identifier: Apache-2.0

/// A key for a message's authentication, by SHA-256 (RFC 2104, FIPS 198-1).
package enum HMACSHA256 {
    /// How many bytes SHA-256 takes at a time.
    private static let blockByteCount = 64

    package static func code(of message: [UInt8], key: [UInt8]) -> [UInt8] {
        var block = key.count > blockByteCount ? SHA256.hash(key) : key
        block += [UInt8](repeating: 0, count: blockByteCount - block.count)
        var inner = SHA256()
        inner.update(block.map { $0 ^ 0x36 })
        inner.update(message)
        var outer = SHA256()
        outer.update(block.map { $0 ^ 0x5C })
        outer.update(inner.finish())
        return outer.finish()
    }
}

/// Makes keys of a secret, by HMAC-SHA-256 (RFC 5869).
package enum HKDFSHA256 {
    /// The longest that ``expand(_:info:byteCount:)`` makes.
    package static let byteCountMax = 255 * SHA256.byteCount

    /// A key of 32 bytes with all that is random in the secret.
    ///
    /// - Parameter salt: empty for none.
    package static func extract(_ secret: [UInt8], salt: [UInt8]) -> [UInt8] {
        // Without a salt it is as many zeros as a digest has (RFC 5869 §2.2). HMAC pads a shorter key with zeros too.
        HMACSHA256.code(of: secret, key: salt)
    }

    /// Bytes that nobody can guess who does not have the key, other ones for each `info`.
    ///
    /// - Parameter byteCount: at most ``byteCountMax``.
    package static func expand(_ key: [UInt8], info: [UInt8], byteCount: Int) -> [UInt8] {
        precondition((0...byteCountMax).contains(byteCount))
        var bytes: [UInt8] = []
        var block: [UInt8] = []
        var number: UInt8 = 1
        while bytes.count < byteCount {
            block = HMACSHA256.code(of: block + info + [number], key: key)
            bytes += block
            number &+= 1
        }
        return Array(bytes.prefix(byteCount))
    }
}
