// SPDX-License-Identifier: Apache-2.0

internal import CTidemarkOpenSSL

/// AES-256 in Galois/Counter Mode (NIST SP 800-38D): encrypts content, and proves that it and its context are
/// unchanged.
///
/// Never use a nonce twice with one key. Random nonces are safe for 2^32 messages with a key.
package enum AESGCM {
    package static let keyByteCount = 32
    package static let nonceByteCount = 12
    package static let tagByteCount = 16

    /// Encrypts.
    ///
    /// - Parameters:
    ///   - key: ``keyByteCount`` bytes.
    ///   - nonce: ``nonceByteCount`` bytes, never used before with this key.
    ///   - context: data that is not secret, but must be the same when the ciphertext is opened.
    /// - Returns: as many bytes as `content`, and the tag.
    package static func seal(
        _ content: [UInt8], key: [UInt8], nonce: [UInt8], authenticating context: [UInt8]
    ) -> [UInt8] {
        precondition(key.count == keyByteCount && nonce.count == nonceByteCount)
        let cipher = Cipher(key: key, nonce: nonce, encrypts: true)
        cipher.authenticate(context)
        return [UInt8](unsafeUninitializedCapacity: content.count + tagByteCount) { buffer, count in
            let written = cipher.update(content, to: buffer.baseAddress)
            precondition(written == content.count)
            var rest: Int32 = 0
            let tag = buffer.baseAddress.map { $0 + content.count }
            precondition(EVP_CipherFinal_ex(cipher.context, tag, &rest) == 1 && rest == 0)
            let status = EVP_CIPHER_CTX_ctrl(cipher.context, EVP_CTRL_AEAD_GET_TAG, Int32(tagByteCount), tag)
            precondition(status == 1)
            count = content.count + tagByteCount
        }
    }

    /// Decrypts the result of ``seal(_:key:nonce:authenticating:)``.
    ///
    /// - Returns: nil if any bit of the content, the nonce, the context or the key differs.
    package static func open(
        _ sealed: [UInt8], key: [UInt8], nonce: [UInt8], authenticating context: [UInt8]
    ) -> [UInt8]? {
        guard key.count == keyByteCount, nonce.count == nonceByteCount, sealed.count >= tagByteCount else {
            return nil
        }
        let contentCount = sealed.count - tagByteCount
        let cipher = Cipher(key: key, nonce: nonce, encrypts: false)
        cipher.authenticate(context)
        var isGenuine = false
        // One more byte, so that there is an address even without content.
        let content = [UInt8](unsafeUninitializedCapacity: contentCount + 1) { buffer, count in
            let written = cipher.update(Array(sealed[..<contentCount]), to: buffer.baseAddress)
            precondition(written == contentCount)
            var tag = Array(sealed[contentCount...])
            let status = EVP_CIPHER_CTX_ctrl(cipher.context, EVP_CTRL_AEAD_SET_TAG, Int32(tagByteCount), &tag)
            precondition(status == 1)
            var rest: Int32 = 0
            isGenuine = EVP_CipherFinal_ex(cipher.context, buffer.baseAddress.map { $0 + contentCount }, &rest) == 1
            count = isGenuine ? contentCount : 0
        }
        return isGenuine ? content : nil
    }
}

/// One run of the cipher.
private struct Cipher: ~Copyable {
    let context: OpaquePointer

    init(key: [UInt8], nonce: [UInt8], encrypts: Bool) {
        guard let context = EVP_CIPHER_CTX_new(),
            EVP_CipherInit_ex(context, EVP_aes_256_gcm(), nil, key, nonce, encrypts ? 1 : 0) == 1
        else { preconditionFailure("libcrypto has AES-256-GCM and memory for it") }
        self.context = context
    }

    deinit { EVP_CIPHER_CTX_free(context) }

    func authenticate(_ bytes: [UInt8]) {
        guard !bytes.isEmpty else { return }
        var written: Int32 = 0
        let status = EVP_CipherUpdate(context, nil, &written, bytes, Int32(bytes.count))
        precondition(status == 1)
    }

    /// How many bytes were written.
    func update(_ bytes: [UInt8], to output: UnsafeMutablePointer<UInt8>?) -> Int {
        guard !bytes.isEmpty else { return 0 }
        var written: Int32 = 0
        let status = EVP_CipherUpdate(context, output, &written, bytes, Int32(bytes.count))
        precondition(status == 1)
        return Int(written)
    }
}
