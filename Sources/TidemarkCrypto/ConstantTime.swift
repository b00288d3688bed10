// SPDX-License-Identifier: Apache-2.0

internal import CTidemarkOpenSSL

/// Comparison that takes as long for a near miss as for a wild guess.
package enum ConstantTime {
    /// Whether both hold the same bytes. The time depends on the lengths, which are no secret, and on nothing else.
    package static func areEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        left.count == right.count && CRYPTO_memcmp(left, right, left.count) == 0
    }
}
