// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain

/// Records that are made in a zone, as if its owner had saved them one after the other.
struct BenchRecords {
    /// What is their parent.
    enum Parent {
        /// None.
        case none
        /// All have the same.
        case record(String)
        /// The first has this one. Each further one has the one before it.
        case chain(String)
    }

    /// Their names have a number after it, from 1 on, with eight digits.
    let prefix: String
    let count: Int
    let parent: Parent

    /// The name of one of them, from 1 on.
    static func name(_ prefix: String, _ number: Int) -> String {
        let digits = String(number)
        return prefix + String(repeating: "0", count: max(0, 8 - digits.count)) + digits
    }

    fileprivate var name: String { "'\(prefix)' || lpad(n::text, 8, '0')" }

    fileprivate var parentName: String {
        switch parent {
        case .none: "NULL"
        case .record(let name): "'\(name)'"
        case .chain(let name): "CASE n WHEN 1 THEN '\(name)' ELSE '\(prefix)' || lpad((n - 1)::text, 8, '0') END"
        }
    }
}

extension BenchDatabase {
    /// Makes records like one that a zone has.
    ///
    /// - Parameters:
    ///   - zone: the only zone of that name in the store.
    ///   - model: whose fields they get.
    func make(_ records: BenchRecords, inZone zone: String, like model: String) throws {
        try execute(
            """
            INSERT INTO record (database_id, zone_id, change_number, batch_end, created_at, created_by, modified_at,
                                modified_by, created_by_device, byte_count, is_deleted, name, type, parent, fields)
            SELECT r.database_id, r.zone_id, z.change_number + n, z.change_number + n, r.created_at, r.created_by,
                   r.modified_at, r.modified_by, r.created_by_device, r.byte_count, false, \(records.name), r.type,
                   \(records.parentName), r.fields
              FROM zone z JOIN record r ON r.database_id = z.database_id AND r.zone_id = z.id AND r.name = '\(model)',
                   generate_series(1, \(records.count)) AS n
             WHERE z.name = '\(zone)'
            """,
            """
            UPDATE zone SET change_number = change_number + \(records.count), write_number = write_number + 1
             WHERE name = '\(zone)'
            """,
            "VACUUM ANALYZE record", "CHECKPOINT")
    }

    /// Shares a record with all that is below it, as if its owner had shared it with these accounts, and all of them had
    /// accepted. They may read and write. The share has a CKShare record, which its participants see too.
    ///
    /// - Parameter zone: the only zone of that name in the store.
    func shareHierarchy(
        _ root: String, inZone zone: String, of owner: BenchAccount, with accounts: [BenchAccount]
    ) throws {
        let shareName = "share-\(root)"
        let users = "'{\(accounts.map { "\($0.user.rawValue)" }.joined(separator: ","))}'::bigint[]"
        let now = "date_trunc('milliseconds', now())"
        let chosen = "z.name = '\(zone)' AND z.removal IS NULL"
        try execute(
            """
            INSERT INTO record (database_id, zone_id, change_number, batch_end, created_at, created_by, modified_at,
                                modified_by, created_by_device, byte_count, is_deleted, name, type, parent, fields)
            SELECT z.database_id, z.id, z.change_number + 1, z.change_number + 1, \(now),
                   \(owner.user.rawValue), \(now), \(owner.user.rawValue), '00000000-0000-0000-0000-000000000001', 0,
                   false, '\(shareName)', '\(Share.recordType)', NULL, ''
              FROM zone z WHERE \(chosen)
            """,
            """
            INSERT INTO share (database_id, zone_id, number, public_permission, record_name, root_name)
            SELECT z.database_id, z.id, z.change_number + 1, \(SharePermission.noAccess.rawValue), '\(shareName)',
                   '\(root)'
              FROM zone z WHERE \(chosen)
            """,
            """
            INSERT INTO share_link (database_id, zone_id, root_name, secret)
            SELECT z.database_id, z.id, '\(root)', sha256(convert_to(z.id || '\(root)', 'UTF8'))
              FROM zone z WHERE \(chosen)
            """,
            """
            INSERT INTO share_participant (database_id, zone_id, share_number, id, user_id, role, permission, status,
                                           accepted_number, begun_number, added_at)
            SELECT z.database_id, z.id, z.change_number + 1, gen_random_uuid(), u.id,
                   \(ParticipantRole.privateUser.rawValue), \(SharePermission.readWrite.rawValue),
                   \(ParticipantStatus.accepted.rawValue), z.change_number + 1, z.change_number + 1, \(now)
              FROM zone z, unnest(\(users)) AS u (id) WHERE \(chosen)
            """,
            """
            INSERT INTO shared_zone (database_id, owner_database_id, zone_id, zone_name)
            SELECT d.id, z.database_id, z.id, z.name
              FROM zone z, database d
             WHERE \(chosen) AND d.scope = \(DatabaseScope.shared.rawValue) AND d.user_id = ANY (\(users))
            """,
            // As in a store, each has a number of its own, in no order of the records' changes.
            """
            INSERT INTO share_record (database_id, zone_id, share_number, number, entered_number, has_left, name, type)
            WITH RECURSIVE covered AS (
                SELECT r.database_id, r.zone_id, r.name, r.type
                  FROM zone z JOIN record r ON r.database_id = z.database_id AND r.zone_id = z.id
                 WHERE \(chosen) AND r.name IN ('\(root)', '\(shareName)')
                 UNION ALL
                SELECT r.database_id, r.zone_id, r.name, r.type
                  FROM covered c JOIN record r ON r.database_id = c.database_id AND r.zone_id = c.zone_id
                       AND r.parent = c.name AND NOT r.is_deleted)
            SELECT c.database_id, c.zone_id, z.change_number + 1, z.change_number + row_number() OVER (),
                   z.change_number + row_number() OVER (), false, c.name, c.type
              FROM covered c JOIN zone z ON z.database_id = c.database_id AND z.id = c.zone_id
            """,
            """
            UPDATE zone z
               SET change_number = change_number + (SELECT count(*) FROM share_record r
                                                     WHERE r.database_id = z.database_id AND r.zone_id = z.id
                                                       AND r.share_number = z.change_number + 1),
                   write_number = write_number + 1, has_hierarchies = true
             WHERE \(chosen)
            """,
            "VACUUM ANALYZE zone, share, share_participant, shared_zone, share_record", "CHECKPOINT")
    }
}
