// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain

extension BenchDatabase {
    /// Shares zones, as if their owner had shared each with these accounts, and all of them had accepted. They may read
    /// and write. Each zone gets a CKShare record.
    ///
    /// - Parameter zones: a pattern of `LIKE` for their names.
    func share(_ zones: String, of owner: BenchAccount, with accounts: [BenchAccount] = []) throws {
        let chosen = """
            z.database_id = \(owner.database.rawValue) AND z.name LIKE '\(zones)' AND z.removal IS NULL
            """
        let users = "'{\(accounts.map { "\($0.user.rawValue)" }.joined(separator: ","))}'::bigint[]"
        let now = "date_trunc('milliseconds', now())"
        try execute(
            """
            INSERT INTO record (database_id, zone_id, change_number, batch_end, created_at, created_by, modified_at,
                                modified_by, created_by_device, byte_count, is_deleted, name, type, parent, fields)
            SELECT z.database_id, z.id, z.change_number + 1, z.change_number + 1, \(now),
                   \(owner.user.rawValue), \(now), \(owner.user.rawValue), '00000000-0000-0000-0000-000000000001', 0,
                   false, '\(Share.zoneWideName)', '\(Share.recordType)', NULL, ''
              FROM zone z WHERE \(chosen)
            """,
            """
            INSERT INTO share (database_id, zone_id, number, public_permission, record_name)
            SELECT z.database_id, z.id, z.change_number + 1, \(SharePermission.noAccess.rawValue),
                   '\(Share.zoneWideName)'
              FROM zone z WHERE \(chosen)
            """,
            """
            INSERT INTO share_link (database_id, zone_id, secret)
            SELECT z.database_id, z.id, sha256(convert_to(z.id::text, 'UTF8')) FROM zone z WHERE \(chosen)
            """,
            """
            INSERT INTO share_participant (database_id, zone_id, share_number, id, user_id, role, permission, status,
                                           accepted_number, added_at)
            SELECT z.database_id, z.id, z.change_number + 1, gen_random_uuid(), u.id,
                   \(ParticipantRole.privateUser.rawValue), \(SharePermission.readWrite.rawValue),
                   \(ParticipantStatus.accepted.rawValue), z.change_number + 1, \(now)
              FROM zone z, unnest(\(users)) AS u (id) WHERE \(chosen)
            """,
            """
            INSERT INTO shared_zone (database_id, owner_database_id, zone_id, zone_name)
            SELECT d.id, z.database_id, z.id, z.name
              FROM zone z, database d
             WHERE \(chosen) AND d.scope = \(DatabaseScope.shared.rawValue) AND d.user_id = ANY (\(users))
            """,
            """
            UPDATE zone z SET change_number = change_number + 1, write_number = write_number + 1 WHERE \(chosen)
            """,
            "VACUUM ANALYZE zone, share, share_participant, shared_zone", "CHECKPOINT")
    }
}
