// SPDX-License-Identifier: Apache-2.0

/// A number that people compare to find out whether they have the same key, or each other's. It reveals nothing about a key.
package enum SafetyNumber {
    private static let groupCount = 12
    private static let groupByteCount = 5
    private static let digitCount = 5

    /// Twelve groups of five digits.
    ///
    /// - Parameters:
    ///   - key: 32 bytes that nobody can guess. Somebody who looks for another key with the same number has to try 10^60.
    ///   - parts: where the key belongs. Each counts, and so do the places where one ends and the next begins.
    package static func text(of key: [UInt8], parts: [[UInt8]]) -> String {
        let info = SealingContext.bytes("tidemark safety number 1") + parts.flatMap { SealingContext.bytes($0) }
        return digits(of: key, info: info)
    }

    /// The number of what two people know of each other: the same for both, if both know the same.
    ///
    /// - Parameters:
    ///   - people: the known data of each, in any order. Somebody who looks for other public keys of both with the same number has to try
    ///     10^30.
    package static func text(comparing people: [[UInt8]], container: String) -> String {
        let sorted = people.sorted { $0.lexicographicallyPrecedes($1) }
        let secret = HKDFSHA256.extract(sorted.flatMap { SealingContext.bytes($0) }, salt: [])
        return digits(of: secret, info: SealingContext.bytes("tidemark safety number 2", container))
    }

    private static func digits(of key: [UInt8], info: [UInt8]) -> String {
        let bytes = HKDFSHA256.expand(key, info: info, byteCount: groupCount * groupByteCount)
        return (0..<groupCount).map { group in
            let value = bytes[group * groupByteCount..<(group + 1) * groupByteCount]
                .reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            let digits = String(value % 100_000)
            return String(repeating: "0", count: digitCount - digits.count) + digits
        }.joined(separator: " ")
    }
}
