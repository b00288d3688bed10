// SPDX-License-Identifier: Apache-2.0

package import TidemarkCrypto
package import TidemarkDomain

/// The effect of a transaction on the digest of a zone's records, which both stores keep as they write.
package struct ZoneDigestChange: Sendable {
    /// To be combined with the zone's digest.
    package private(set) var digest = VersionDigest()
    /// How many more living records there are.
    package private(set) var countGrowth: Int64 = 0

    package init(of changes: ZoneChanges) {
        var hasher = VersionHasher()
        self.init(of: changes, with: &hasher)
    }

    private init(of changes: ZoneChanges, with hasher: inout VersionHasher) {
        for record in changes.replaced { add(record, -1, &hasher) }
        for record in changes.records where !record.isDeleted { add(record, 1, &hasher) }
    }

    /// Those of a group of writes, one for each zone.
    package static func all(of group: [ZoneChanges]) -> [ZoneDigestChange] {
        var hasher = VersionHasher()
        var all: [ZoneDigestChange] = []
        all.reserveCapacity(group.count)
        for changes in group { all.append(ZoneDigestChange(of: changes, with: &hasher)) }
        return all
    }

    private mutating func add(_ record: RecordState, _ growth: Int64, _ hasher: inout VersionHasher) {
        digest.toggle(record.name, UInt64(bitPattern: record.changeNumber), with: &hasher)
        countGrowth += growth
    }
}
