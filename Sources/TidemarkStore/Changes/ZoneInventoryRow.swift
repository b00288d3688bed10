// SPDX-License-Identifier: Apache-2.0

internal import TidemarkCrypto
internal import TidemarkDomain
internal import TidemarkPostgres

/// A question for a zone's digest, and for some of its records' names.
struct ZoneInventoryQuery: Sendable {
    let key: ZoneKey
    let after: String
    /// 0: none.
    let rowsMax: Int

    init(_ key: ZoneKey, _ listing: ZoneListing?) {
        self.key = key
        (after, rowsMax) = (listing?.after ?? "", listing?.rowsMax ?? 0)
    }
}

/// A row of ``ChangeStatements/inventory``. The zone comes first.
enum ZoneInventoryRow {
    case zone(ZoneInventoryHead)
    case record(ZoneInventory.Version, isDeleted: Bool)

    init(_ row: PostgresRow) throws(PostgresError) {
        if let name: String = try row["name"] {
            self = .record(.init(name: name, number: try row["change_number"]), isDeleted: try row["flag"])
        } else {
            self = .zone(try ZoneInventoryHead(row))
        }
    }
}

/// What ``ChangeStatements/inventory`` returns of the zone.
struct ZoneInventoryHead {
    let id: ZoneID
    let createdAt: Timestamp
    let changeNumber: ChangeNumber
    let oldestTokenNumber: ChangeNumber
    let isPerZone: Bool
    let recordCount: Int64
    let store: StoreIncarnation
    /// Nil if it is not known.
    let digest: VersionDigest?

    init(_ row: PostgresRow) throws(PostgresError) {
        id = try row["zone_id"]
        createdAt = try row["created_at"]
        changeNumber = try row["change_number"]
        oldestTokenNumber = try row["oldest_token_number"]
        isPerZone = try row["flag"]
        recordCount = try row["record_count"]
        store = try row["incarnation"]
        let (high, low): (Int64?, Int64?) = (try row["digest_high"], try row["digest_low"])
        if let high, let low {
            digest = VersionDigest(high: UInt64(bitPattern: high), low: UInt64(bitPattern: low))
        } else {
            digest = nil
        }
    }

    func inventory(of key: ZoneKey) -> ZoneInventory {
        var zone = ZoneState(
            id: id, key: key, createdAt: createdAt, changeNumber: changeNumber, oldestTokenNumber: oldestTokenNumber)
        zone.encryptionScope = isPerZone ? .perZone : .perRecord
        return ZoneInventory(zone: zone, recordCount: recordCount, digest: digest?.bytes)
    }
}
