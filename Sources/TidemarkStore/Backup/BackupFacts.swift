// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain

/// The store at the moment of a backup.
package struct BackupFacts: Sendable, Equatable {
    /// By the database's clock.
    package let time: Timestamp
    package let incarnation: StoreIncarnation
    /// The digest by which servers know the master key; nil: there is none yet. The key cannot be computed from it.
    package let masterKeyCheck: [UInt8]?
    package let postgres: PostgresVersion
    package let databaseName: String
    /// Of all tables without their indexes, about as much as a dump that is not compressed.
    package let tableBytes: Int64
    /// All assets that the database knows, also those that no record names.
    package let assetCount: Int
    package let assetBytes: Int64
}

/// A step of the schema that a database has.
package struct AppliedMigration: Sendable, Equatable {
    package let number: Int
    package let name: String
    package let checksum: String

    package init(number: Int, name: String, checksum: String) {
        (self.number, self.name, self.checksum) = (number, name, checksum)
    }
}

/// An asset that the database knows.
package struct BackedUpAsset: Sendable, Equatable {
    package let asset: AssetKey
    /// Whether a record names it.
    package let isNamed: Bool
    /// When somebody last sent it or named it, or since when no record does.
    package let touchedAt: Timestamp
    /// Nil: if the file is not there, nobody has accepted that yet.
    package let loss: AcceptedLoss?

    package init(asset: AssetKey, isNamed: Bool, touchedAt: Timestamp, loss: AcceptedLoss?) {
        (self.asset, self.isNamed, self.touchedAt, self.loss) = (asset, isNamed, touchedAt, loss)
    }
}

/// What a container has: users, living zones and the living records in them.
package struct BackedUpContainer: Sendable, Equatable {
    package let container: ContainerKey
    package let users: Int
    package let zones: Int
    package let records: Int

    package init(container: ContainerKey, users: Int, zones: Int, records: Int) {
        (self.container, self.users, self.zones, self.records) = (container, users, zones, records)
    }
}

/// A zone as its row says, and as its records are, at one moment.
package struct ZoneCheck: Sendable, Equatable {
    package let sums: ZoneSums
    package let recordCount: Int
    package let recordSum: Int
    /// Nil: a server of an older version has written there last, so nobody knows it.
    package let digest: ZoneDigestBits?
    package let digestSum: ZoneDigestBits

    package init(
        sums: ZoneSums, recordCount: Int, recordSum: Int, digest: ZoneDigestBits?, digestSum: ZoneDigestBits
    ) {
        self.sums = sums
        self.recordCount = recordCount
        self.recordSum = recordSum
        self.digest = digest
        self.digestSum = digestSum
    }
}

/// The two halves of a zone's digest, as the database has them.
package struct ZoneDigestBits: Sendable, Equatable {
    package var high: Int64
    package var low: Int64

    package init(high: Int64 = 0, low: Int64 = 0) { (self.high, self.low) = (high, low) }

    mutating func combine(_ other: ZoneDigestBits) {
        high ^= other.high
        low ^= other.low
    }
}
