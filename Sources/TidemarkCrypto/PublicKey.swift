// SPDX-License-Identifier: Apache-2.0

internal import CTidemarkOpenSSL

/// How something is signed, by the names of JSON Web Signatures (RFC 7518 §3.1, RFC 8037).
package enum SignatureAlgorithm: String, Sendable, CaseIterable {
    /// RSA with PKCS #1 v1.5 and SHA-256.
    case rs256 = "RS256"
    /// ECDSA on P-256 with SHA-256.
    case es256 = "ES256"
    /// Ed25519.
    case edDSA = "EdDSA"
}

/// The public half of a key, which verifies signatures. Any thread may use it, because it does not change.
package final class PublicKey: @unchecked Sendable {
    /// How its owner signs.
    package let algorithm: SignatureAlgorithm
    private let key: OpaquePointer

    /// Smaller RSA keys can be broken. Larger ones take long to verify with.
    package static let rsaBitsMin = 2_048
    /// See ``rsaBitsMin``.
    package static let rsaBitsMax = 8_192

    private init?(_ algorithm: SignatureAlgorithm, encoded: [UInt8]) {
        let key = encoded.withUnsafeBufferPointer { bytes -> OpaquePointer? in
            var place = bytes.baseAddress
            return d2i_PUBKEY(nil, &place, bytes.count)
        }
        guard let key else {
            // NB: TLS on this thread would take an error that is left here for its own.
            ERR_clear_error()
            return nil
        }
        self.algorithm = algorithm
        self.key = key
    }

    deinit { EVP_PKEY_free(key) }

    /// A key for ``SignatureAlgorithm/rs256``. Both numbers are big-endian.
    ///
    /// - Returns: nil unless the modulus has ``rsaBitsMin`` to ``rsaBitsMax`` bits and both numbers are odd. The exponent
    ///   has at most 64 bits, as all that are in use.
    package static func rsa(modulus: [UInt8], exponent: [UInt8]) -> PublicKey? {
        let (modulus, exponent) = (modulus.drop { $0 == 0 }, exponent.drop { $0 == 0 })
        guard let high = modulus.first, let low = modulus.last, low & 1 == 1, let end = exponent.last, end & 1 == 1,
            (rsaBitsMin...rsaBitsMax).contains(modulus.count * 8 - high.leadingZeroBitCount),
            exponent.count <= 8, exponent.count > 1 || end > 1
        else { return nil }
        let numbers = DER.sequence(DER.integer(modulus) + DER.integer(exponent))
        return PublicKey(.rs256, encoded: DER.sequence(rsaEncryption + DER.bitString(numbers)))
    }

    /// A key for ``SignatureAlgorithm/es256``. Both coordinates have 32 bytes.
    ///
    /// - Returns: nil if they have another length, or the point is not on the curve.
    package static func p256(x: [UInt8], y: [UInt8]) -> PublicKey? {
        guard x.count == 32, y.count == 32 else { return nil }
        return PublicKey(.es256, encoded: DER.sequence(p256Curve + DER.bitString([0x04] + x + y)))
    }

    /// A key for ``SignatureAlgorithm/edDSA``, of 32 bytes.
    ///
    /// - Returns: nil if it has another length.
    package static func ed25519(_ bytes: [UInt8]) -> PublicKey? {
        guard bytes.count == 32 else { return nil }
        return PublicKey(.edDSA, encoded: DER.sequence(ed25519Identifier + DER.bitString(bytes)))
    }

    /// Whether the owner of the key has signed the content.
    ///
    /// - Parameter signature: in the form of JSON Web Signatures. For ES256 these are both numbers with 32 bytes each
    ///   (RFC 7518 §3.4).
    package func verify(_ signature: [UInt8], of content: [UInt8]) -> Bool {
        var signature = signature
        if algorithm == .es256 {
            guard signature.count == 64 else { return false }
            signature = DER.sequence(
                DER.integer(signature[..<32].drop { $0 == 0 }) + DER.integer(signature[32...].drop { $0 == 0 }))
        }
        guard !signature.isEmpty, let context = EVP_MD_CTX_new() else { return false }
        defer {
            EVP_MD_CTX_free(context)
            // NB: as above. A wrong signature leaves an error.
            ERR_clear_error()
        }
        // Ed25519 has its own digest.
        let digest = algorithm == .edDSA ? nil : EVP_sha256()
        guard EVP_DigestVerifyInit(context, nil, digest, nil, key) == 1 else { return false }
        return EVP_DigestVerify(context, signature, signature.count, content, content.count) == 1
    }

    // AlgorithmIdentifiers: RFC 8017 A.1, RFC 5480 §2.1.1, RFC 8410 §3.

    private static let rsaEncryption: [UInt8] = [
        0x30, 0x0D, 0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01, 0x05, 0x00,
    ]
    private static let p256Curve: [UInt8] = [
        0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D,
        0x03, 0x01, 0x07,
    ]
    private static let ed25519Identifier: [UInt8] = [0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x70]
}

/// The few forms of DER (ITU-T X.690) that keys and signatures need.
private enum DER {
    static func sequence(_ content: [UInt8]) -> [UInt8] { element(0x30, content) }

    static func bitString(_ content: [UInt8]) -> [UInt8] { element(0x03, [0] + content) }

    /// - Parameter magnitude: big-endian, without zeros before it; empty for 0.
    static func integer(_ magnitude: ArraySlice<UInt8>) -> [UInt8] {
        // A first bit that is set would make it negative.
        let needsZero = magnitude.first.map { $0 >= 0x80 } ?? true
        return element(0x02, (needsZero ? [0] : []) + magnitude)
    }

    private static func element(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        let count = content.count
        guard count >= 0x80 else { return [tag, UInt8(count)] + content }
        var length: [UInt8] = []
        var rest = count
        while rest > 0 {
            length.insert(UInt8(rest & 0xFF), at: 0)
            rest >>= 8
        }
        return [tag, 0x80 | UInt8(length.count)] + length + content
    }
}
