// SPDX-License-Identifier: Apache-2.0

internal import CTidemarkOpenSSL
internal import CTidemarkOpenSSLStart

/// Both halves of a key on Curve25519 (RFC 7748), with which two who have never met agree on a secret.
package struct X25519KeyPair: Sendable, Equatable {
    package static let byteCount = 32

    package let privateKey: [UInt8]
    package let publicKey: [UInt8]

    /// - Returns: nil unless there are ``byteCount`` bytes. Any of these is a private key.
    package init?(privateKey: [UInt8]) {
        guard privateKey.count == Self.byteCount, let key = CurveKey(privateKey: privateKey) else { return nil }
        self.privateKey = privateKey
        publicKey = key.publicBytes()
    }

    package static func random() -> X25519KeyPair {
        guard let pair = X25519KeyPair(privateKey: SecureRandom.bytes(byteCount)) else {
            preconditionFailure("libcrypto has X25519 and memory for it")
        }
        return pair
    }

    /// A secret that only the owners of both private keys can compute.
    ///
    /// - Returns: nil if the public key has another length, or is one of the few points of low order. With these the secret
    ///   is zero for every private key, so everybody would know it (RFC 7748 §6.1).
    package func sharedSecret(with publicKey: [UInt8]) -> [UInt8]? {
        guard publicKey.count == Self.byteCount, let mine = CurveKey(privateKey: privateKey),
            let theirs = CurveKey(publicKey: publicKey), let secret = mine.derive(with: theirs),
            secret.contains(where: { $0 != 0 })
        else { return nil }
        return secret
    }
}

/// A key in libcrypto's form.
private struct CurveKey: ~Copyable {
    private let key: OpaquePointer

    init?(privateKey: [UInt8]) {
        guard let key = EVP_PKEY_new_raw_private_key(EVP_PKEY_X25519, nil, privateKey, privateKey.count) else {
            // NB: TLS on this thread would take an error that is left here for its own.
            ERR_clear_error()
            return nil
        }
        self.key = key
    }

    init?(publicKey: [UInt8]) {
        guard let key = EVP_PKEY_new_raw_public_key(EVP_PKEY_X25519, nil, publicKey, publicKey.count) else {
            ERR_clear_error()
            return nil
        }
        self.key = key
    }

    deinit { EVP_PKEY_free(key) }

    func publicBytes() -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: X25519KeyPair.byteCount) { buffer, count in
            count = X25519KeyPair.byteCount
            let status = EVP_PKEY_get_raw_public_key(key, buffer.baseAddress, &count)
            precondition(status == 1 && count == X25519KeyPair.byteCount)
        }
    }

    /// Nil if libcrypto refuses it, which it does for a secret of zeros.
    func derive(with peer: borrowing CurveKey) -> [UInt8]? {
        guard let context = EVP_PKEY_CTX_new(key, nil) else {
            ERR_clear_error()
            return nil
        }
        defer {
            EVP_PKEY_CTX_free(context)
            ERR_clear_error()
        }
        guard EVP_PKEY_derive_init(context) == 1, EVP_PKEY_derive_set_peer(context, peer.key) == 1 else { return nil }
        var isDone = false
        let secret = [UInt8](unsafeUninitializedCapacity: X25519KeyPair.byteCount) { buffer, count in
            count = X25519KeyPair.byteCount
            isDone = EVP_PKEY_derive(context, buffer.baseAddress, &count) == 1 && count == X25519KeyPair.byteCount
            if !isDone { count = 0 }
        }
        return isDone ? secret : nil
    }
}
