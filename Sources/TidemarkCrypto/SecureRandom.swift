// SPDX-License-Identifier: Apache-2.0

internal import CTidemarkOpenSSL
internal import CTidemarkOpenSSLStart

/// Random bytes that nobody can guess: for credentials, nonces and masking keys.
package enum SecureRandom {
    package static func bytes(_ count: Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: count) { buffer, written in
            fill(UnsafeMutableRawBufferPointer(buffer))
            written = count
        }
    }

    /// Overwrites all of `buffer`.
    package static func fill(_ buffer: UnsafeMutableRawBufferPointer) {
        guard buffer.count > 0 else { return }
        let status = RAND_bytes(buffer.assumingMemoryBound(to: UInt8.self).baseAddress, Int32(buffer.count))
        // Predictable secrets would be worse than ending the process.
        precondition(status == 1, "the system has no randomness")
    }
}
