// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
internal import TidemarkPostgres
package import TidemarkService

/// What an operator's command would destroy, in numbers. Nothing is locked, so others may change it meanwhile.
extension AdminStore {
    /// What a zone holds.
    package struct ZoneContent: Sendable, Equatable {
        package let recordCount: Int
        package let byteCount: Int64
        package let participantCount: Int
    }

    /// Nil if there is no such zone. Participants are those who share it now, without its owner.
    package func content(of key: ZoneKey) async throws(StorageError) -> ZoneContent? {
        try await storage.read(sql.losses.zoneContent(key)).first
    }

    /// At most what ``compact(before:)`` removes: zones whose records have not been cleared yet stay.
    package func compactable(before: Timestamp) async throws(StorageError) -> Compaction {
        try await storage.read(sql.losses.compactable(before)).first ?? Compaction()
    }

    /// How many zones of an account have encrypted values, in all containers.
    package func keyedZoneCount(of account: AccountID) async throws(StorageError) -> Int {
        try await storage.read(sql.losses.keyedZones(account)).first ?? 0
    }
}

/// The SQL that counts what a command would destroy.
struct LossStatements: Sendable {
    let zoneContent = DeclaredStatement<ZoneKey, AdminStore.ZoneContent>(
        .read, "loss_zone_content",
        """
        SELECT z.byte_count,
               (SELECT count(*) FROM record r
                 WHERE r.database_id = z.database_id AND r.zone_id = z.id AND NOT r.is_deleted) AS records,
               (SELECT count(*) FROM share s
                  JOIN share_participant p ON p.database_id = s.database_id AND p.zone_id = s.zone_id
                                          AND p.share_number = s.number
                 WHERE s.database_id = z.database_id AND s.zone_id = z.id AND s.ended_number IS NULL
                   AND p.status = 2) AS participants
          FROM zone z
         WHERE z.database_id = \(\.database) AND z.name = \(\.name) AND z.removal IS NULL
        """
    ) { row throws(PostgresError) in
        AdminStore.ZoneContent(
            recordCount: try row["records"], byteCount: try row["byte_count"],
            participantCount: try row["participants"])
    }

    let compactable = DeclaredStatement<Timestamp, AdminStore.Compaction>(
        .read, "loss_compactable",
        """
        SELECT (SELECT count(*) FROM zone z JOIN record r ON r.database_id = z.database_id AND r.zone_id = z.id
                 WHERE z.removal IS NULL AND r.is_deleted AND r.modified_at < \(\.self)) AS records,
               (SELECT count(*) FROM zone WHERE removal IS NOT NULL AND removed_at < \(\.self)) AS zones
        """
    ) { row throws(PostgresError) in
        var compaction = AdminStore.Compaction()
        compaction.records = try row["records"]
        compaction.zones = try row["zones"]
        return compaction
    }

    let keyedZones = DeclaredStatement<AccountID, Int>(
        .read, "loss_keyed_zones",
        """
        SELECT count(*) FROM container_user u
          JOIN database d ON d.user_id = u.id AND d.scope = 2
          JOIN zone z ON z.database_id = d.id AND z.removal IS NULL
         WHERE u.account_id = \(\.self)
           AND EXISTS (SELECT FROM zone_key k WHERE k.database_id = z.database_id AND k.zone_id = z.id)
        """)
}
