// SPDX-License-Identifier: Apache-2.0

import CFolderSyncDigest
import Foundation

/// The SHA-256 digest of bytes that come in pieces, as hexadecimal text.
struct ContentDigest: ~Copyable {
    private let context: OpaquePointer?

    init() {
        context = EVP_MD_CTX_new()
        precondition(EVP_DigestInit_ex(context, EVP_sha256(), nil) == 1, "OpenSSL lacks SHA-256")
    }

    deinit {
        EVP_MD_CTX_free(context)
    }

    func update(_ data: Data) {
        data.withUnsafeBytes { precondition(EVP_DigestUpdate(context, $0.baseAddress, $0.count) == 1) }
    }

    consuming func finish() -> String {
        let digest = [UInt8](unsafeUninitializedCapacity: 32) { buffer, count in
            precondition(EVP_DigestFinal_ex(context, buffer.baseAddress, nil) == 1)
            count = 32
        }
        return digest.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }
}
