// SPDX-License-Identifier: Apache-2.0

internal import CTidemarkOpenSSL

/// Comparison whose time does not depend on how similar the values are.
package enum ConstantTime {
    /// Whether both have the same bytes. The time depends only on the lengths, which are no secret.
    package static func areEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        left.count == right.count && CRYPTO_memcmp(left, right, left.count) == 0
    }
}
