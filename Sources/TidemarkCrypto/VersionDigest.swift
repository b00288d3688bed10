// SPDX-License-Identifier: Apache-2.0

/// A digest of a set of records' versions, by which a device and a server see whether they have the same.
///
/// It is the XOR of one hash for each version. So adding and removing one costs the same however many there are: both
/// are ``toggle(_:_:)``. It finds mistakes. Somebody who invents names could make two sets with one digest, but would
/// deceive only their own devices.
package struct VersionDigest: Sendable, Equatable {
    package static let byteCount = 16

    package private(set) var high: UInt64
    package private(set) var low: UInt64

    /// The digest of no versions.
    package init() { (high, low) = (0, 0) }

    package init(high: UInt64, low: UInt64) {
        (self.high, self.low) = (high, low)
    }

    /// Adds a version that is not in the set, or removes one that is. The hash is the first half of SHA-256 of the number
    /// (eight bytes, most significant first) and the name. NB: a migration computes the same in SQL.
    ///
    /// - Parameter number: the version's change number in its zone.
    package mutating func toggle(_ name: String, _ number: UInt64) {
        var hasher = VersionHasher()
        toggle(name, number, with: &hasher)
    }

    /// The same for many versions.
    package mutating func toggle(_ name: String, _ number: UInt64, with hasher: inout VersionHasher) {
        let half = hasher.hash(name, number)
        high ^= half.high
        low ^= half.low
    }

    /// The set of those that are in one of the two sets, and not in both.
    package mutating func combine(_ other: VersionDigest) {
        high ^= other.high
        low ^= other.low
    }

    /// As it is sent.
    package var bytes: [UInt8] {
        [high, low].flatMap { half in
            stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: half >> $0) }
        }
    }
}

/// Hashes versions one after the other with one context of libcrypto, which takes longer to make than a hash.
package struct VersionHasher: ~Copyable {
    private var context = SHA256()

    package init() {}

    fileprivate mutating func hash(_ name: String, _ number: UInt64) -> (high: UInt64, low: UInt64) {
        withUnsafeBytes(of: number.bigEndian) { context.update($0) }
        var name = name
        name.withUTF8 { context.update(UnsafeRawBufferPointer($0)) }
        return context.halfAndReset()
    }
}
