// SPDX-License-Identifier: Apache-2.0

/// The record types at which the query subscriptions of one database look, which are too many for memory. It may name
/// too many, and never too few. A pure value.
package struct WatchedTypes: Sendable, Equatable {
    /// The most types that are known one by one, and the bytes of their names. With more, each may be one of them (I-7).
    package static let countMax = 10_000
    package static let bytesMax = 1_048_576

    /// Nil: they have no room.
    package let names: Set<String>?
    /// Whether the subscriptions look at a public database.
    package let isPublic: Bool

    /// - Parameter names: all, or more than ``countMax``.
    package init(_ names: Set<String>, isPublic: Bool) {
        let hasRoom = names.count <= Self.countMax && names.reduce(0) { $0 + $1.utf8.count } <= Self.bytesMax
        self.names = hasRoom ? names : nil
        self.isPublic = isPublic
    }

    /// Whether a subscription may look at records of the type.
    package func mayInclude(_ recordType: String) -> Bool { names?.contains(recordType) ?? true }

    /// The bytes of all names.
    package var byteCount: Int { names?.reduce(0) { $0 + $1.utf8.count } ?? 0 }
}
