// SPDX-License-Identifier: Apache-2.0

package import TidemarkCrypto
package import TidemarkDomain

/// What a transaction does to the digest of a zone's records, which both stores keep as they write.
package struct ZoneDigestChange: Sendable {
    /// To be combined with the zone's digest.
    package private(set) var digest = VersionDigest()
    /// How many more living records there are.
    package private(set) var countGrowth: Int64 = 0

    package init(of changes: ZoneChanges) {
        for record in changes.replaced { add(record, -1) }
        for record in changes.records where !record.isDeleted { add(record, 1) }
    }

    private mutating func add(_ record: RecordState, _ growth: Int64) {
        digest.toggle(record.name, UInt64(bitPattern: record.changeNumber))
        countGrowth += growth
    }
}
