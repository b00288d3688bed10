// SPDX-License-Identifier: Apache-2.0

/// The quota of a client's private database, as the server reports it at the connection.
package struct QuotaStanding: Sendable, Equatable {
    package let bytesMax: Int64
    /// The bytes that are used; nil: there are more zones than are counted.
    package let byteCount: Int64?

    /// The most zones that are counted at a sign-in. With more, the use is not reported: an account with very many
    /// zones must not delay others that sign in, nor itself.
    package static let zonesMax = 1_000

    /// Nil if there is no quota.
    package init?(bytesMax: Int64?, byteCount: Int64?) {
        guard let bytesMax else { return nil }
        (self.bytesMax, self.byteCount) = (bytesMax, byteCount)
    }

    /// The container's or the account's, whichever leaves less room, as ``StorageUse/tighter(_:_:)``. If that is unknown, the smaller quota
    /// without its use.
    package static func tighter(_ one: QuotaStanding?, _ other: QuotaStanding?) -> QuotaStanding? {
        guard let one, let other else { return one ?? other }
        guard let used = one.byteCount, let otherUsed = other.byteCount else {
            return QuotaStanding(bytesMax: min(one.bytesMax, other.bytesMax), byteCount: nil)
        }
        return other.bytesMax - otherUsed < one.bytesMax - used ? other : one
    }
}
