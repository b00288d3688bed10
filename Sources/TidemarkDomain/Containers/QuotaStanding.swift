// SPDX-License-Identifier: Apache-2.0

/// What a client is told of the quota of its private database when it connects.
package struct QuotaStanding: Sendable, Equatable {
    package let bytesMax: Int64
    /// The bytes that are used; nil: there are more zones than are counted.
    package let byteCount: Int64?

    /// Zones that are counted for who signs in. With more the use is not told: an account with very many zones must not
    /// hold up others that sign in, nor itself.
    package static let zonesMax = 1_000

    /// Nil if there is no quota.
    package init?(bytesMax: Int64?, byteCount: Int64?) {
        guard let bytesMax else { return nil }
        (self.bytesMax, self.byteCount) = (bytesMax, byteCount)
    }

    /// Of the container's and the account's the one that leaves less room, as ``StorageUse/tighter(_:_:)``. If nobody knows
    /// which that is, the smaller quota without its use.
    package static func tighter(_ one: QuotaStanding?, _ other: QuotaStanding?) -> QuotaStanding? {
        guard let one, let other else { return one ?? other }
        guard let used = one.byteCount, let otherUsed = other.byteCount else {
            return QuotaStanding(bytesMax: min(one.bytesMax, other.bytesMax), byteCount: nil)
        }
        return other.bytesMax - otherUsed < one.bytesMax - used ? other : one
    }
}
