// SPDX-License-Identifier: Apache-2.0

internal import CTidemarkOpenSSL

/// SHA-1 (FIPS 180-4). Collisions can be made, so it is here only because RFC 6455 §4.2.2 requires it.
package enum SHA1 {
    package static let byteCount = 20

    package static func hash(_ bytes: [UInt8]) -> [UInt8] {
        digest(bytes, byteCount: byteCount, EVP_sha1())
    }
}

/// SHA-256 (FIPS 180-4), for complete content or content in pieces.
///
/// ```swift
/// var hash = SHA256()
/// hash.update(first)
/// hash.update(second)
/// let digest = hash.finish()
/// ```
package struct SHA256: ~Copyable {
    package static let byteCount = 32

    private let context: OpaquePointer

    package init() {
        guard let context = EVP_MD_CTX_new(), EVP_DigestInit_ex(context, EVP_sha256(), nil) == 1 else {
            preconditionFailure("libcrypto has SHA-256 and memory for it")
        }
        self.context = context
    }

    deinit { EVP_MD_CTX_free(context) }

    package mutating func update(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { update($0) }
    }

    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        let status = EVP_DigestUpdate(context, bytes.baseAddress, bytes.count)
        precondition(status == 1)
    }

    /// The digest of everything so far, 32 bytes.
    package consuming func finish() -> [UInt8] { finished() }

    /// The same; later bytes belong to a new message.
    mutating func finishAndReset() -> [UInt8] {
        let digest = finished()
        let status = EVP_DigestInit_ex(context, nil, nil)
        precondition(status == 1)
        return digest
    }

    /// The first half of the digest, as two numbers with the most significant byte first. Later bytes belong to a new
    /// message.
    mutating func halfAndReset() -> (high: UInt64, low: UInt64) {
        let half = withUnsafeTemporaryAllocation(byteCount: Self.byteCount, alignment: 8) { digest in
            let status = EVP_DigestFinal_ex(context, digest.baseAddress?.assumingMemoryBound(to: UInt8.self), nil)
            precondition(status == 1)
            return (
                UInt64(bigEndian: digest.load(as: UInt64.self)),
                UInt64(bigEndian: digest.load(fromByteOffset: 8, as: UInt64.self))
            )
        }
        let status = EVP_DigestInit_ex(context, nil, nil)
        precondition(status == 1)
        return half
    }

    private borrowing func finished() -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: Self.byteCount) { buffer, count in
            let status = EVP_DigestFinal_ex(context, buffer.baseAddress, nil)
            precondition(status == 1)
            count = Self.byteCount
        }
    }

    package static func hash(_ bytes: [UInt8]) -> [UInt8] {
        digest(bytes, byteCount: byteCount, EVP_sha256())
    }
}

private func digest(_ bytes: [UInt8], byteCount: Int, _ algorithm: OpaquePointer?) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: byteCount) { buffer, count in
        let status = EVP_Digest(bytes, bytes.count, buffer.baseAddress, nil, algorithm, nil)
        precondition(status == 1)
        count = byteCount
    }
}
