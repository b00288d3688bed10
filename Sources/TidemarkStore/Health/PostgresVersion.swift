// SPDX-License-Identifier: Apache-2.0

/// A version of PostgreSQL, as it counts them itself: 160_004 is 16.4.
package struct PostgresVersion: Hashable, Comparable, Sendable, CustomStringConvertible {
    package let number: Int

    package init(_ number: Int) { self.number = number }

    /// The oldest with which Tidemark works: digests of zones need `bit_xor`, which came with it. The same number is in
    /// deploy/README.md and docs/admin.md.
    package static let oldest = PostgresVersion(140_000)

    package static func < (left: Self, right: Self) -> Bool { left.number < right.number }

    package var major: Int { number / 10_000 }
    package var description: String { "\(major).\(number % 10_000)" }
}
