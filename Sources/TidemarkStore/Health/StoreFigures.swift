// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain

/// A table or an index as PostgreSQL sees it.
package struct RelationSize: Sendable, Equatable {
    package let name: String
    /// The table of an index; nil for a table.
    package let table: String?
    package let byteCount: Int64
    /// For a table: living and dead rows, as PostgreSQL estimates them.
    package let liveRows: Int64
    package let deadRows: Int64
    /// For an index: how often it was used, and whether it is whole.
    package let useCount: Int64
    package let isValid: Bool
}

/// A container in numbers.
package struct ContainerCounts: Sendable, Equatable {
    package let container: ContainerKey
    package let userCount: Int
    package let zoneCount: Int
    package let endedZoneCount: Int
    package let recordBytes: Int64
    package let tombstoneBytes: Int64
    package let assetCount: Int
    package let assetBytes: Int64
    package let shareCount: Int
    package let subscriptionCount: Int
}

/// An account and what it holds in all containers.
package struct AccountUseRow: Sendable, Equatable {
    package let account: String
    package let recordBytes: Int64
    package let assetBytes: Int64
}

/// PostgreSQL itself, as far as Tidemark depends on it.
package struct DatabaseFacts: Sendable, Equatable {
    /// As PostgreSQL counts it: 160_004 is 16.4.
    package let version: Int
    /// Settings by name.
    package let settings: [String: String]
    package let now: Timestamp
    package let byteCount: Int64
    package let connectionCount: Int
    /// How old the oldest open transaction is; nil: there is none.
    package let oldestTransactionSeconds: Double?
}

/// A zone's row, and what its records sum up to.
package struct ZoneSums: Sendable, Equatable {
    package let key: ZoneKey
    package let id: ZoneID
    package let head: ChangeNumber
    /// The largest change number of a record.
    package let newestChange: ChangeNumber
    package let byteCount: Int64
    package let byteSum: Int64
    package let tombstoneBytes: Int64
    package let tombstoneSum: Int64
}
