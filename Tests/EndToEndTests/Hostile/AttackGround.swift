// SPDX-License-Identifier: Apache-2.0

import TidemarkPostgres
import TidemarkTestSupport

/// An account that attacks, or nobody.
struct AttackingAccount: Sendable {
    /// Among those that make the same attack.
    let number: Int
    let name: String
    /// Empty: nobody's.
    let credential: String

    static let nobody = AttackingAccount(number: 0, name: "", credential: "")

    var isNobody: Bool { credential.isEmpty }
}

/// Where an account attacks, for what the library cannot do, or not soon enough.
struct AttackGround: Sendable {
    let place: OperatorPlace
    let account: AttackingAccount
    let isLong: Bool

    func execute(_ statements: String...) throws {
        try PostgresAdministration.execute(statements, url: place.database.url)
    }

    /// Whether a condition holds in the store.
    func holds(_ condition: String) -> Bool {
        // A statement that fails is all that can be told.
        (try? execute("SELECT 1 / (\(condition))::integer")) != nil
    }

    /// The id of the database that is attacked, in SQL.
    var database: String {
        account.isNobody
            ? """
            (SELECT d.id FROM database d JOIN container c ON c.id = d.container_id
              WHERE d.scope = 1 AND c.identifier = '\(place.site.container)')
            """
            : """
            (SELECT d.id FROM database d JOIN container c ON c.id = d.container_id JOIN container_user u ON u.id = d.user_id
              WHERE d.scope = 2 AND c.identifier = '\(place.site.container)' AND u.account_id = \(accountID))
            """
    }

    /// The account's id, in SQL.
    var accountID: String { "(SELECT id FROM account WHERE name = '\(account.name)')" }

    /// Makes records like one of the default zone, as if they had been saved after it. Saves would take a hundred times as
    /// long.
    ///
    /// - Parameters:
    ///   - count: in each zone.
    ///   - zones: which, as a condition on `z`.
    ///   - name: of the record number `n`, in SQL.
    ///   - parent: its name, in the same way.
    func multiply(
        _ record: String, count: Int, in zones: String = "z.name = '_defaultZone'", name: String,
        parent: String = "NULL"
    ) throws {
        try execute(
            """
            WITH made AS (
                INSERT INTO record (database_id, zone_id, change_number, batch_end, created_at, created_by, modified_at,
                                    modified_by, created_by_device, byte_count, is_deleted, name, type, parent, fields)
                SELECT z.database_id, z.id, z.change_number + n, z.change_number + n, r.created_at, r.created_by,
                       r.modified_at, r.modified_by, r.created_by_device, r.byte_count, false, \(name), r.type,
                       \(parent), r.fields
                  FROM record r JOIN zone h ON h.database_id = r.database_id AND h.id = r.zone_id
                  JOIN zone z ON z.database_id = r.database_id CROSS JOIN generate_series(1, \(count)) AS n
                 WHERE r.database_id = \(database) AND r.name = '\(record)' AND h.name = '_defaultZone'
                   AND h.removal IS NULL AND z.removal IS NULL AND \(zones)
             RETURNING database_id, zone_id, byte_count,
                       byte_count + octet_length(name) + octet_length(type) + coalesce(octet_length(parent), 0) + 128 AS held)
            UPDATE zone
               SET change_number = zone.change_number + m.record_count, write_number = zone.write_number + 1,
                   byte_count = zone.byte_count + m.held, largest_record = greatest(zone.largest_record, m.largest)
              FROM (SELECT database_id, zone_id, count(*) AS record_count, sum(held)::bigint AS held,
                           max(byte_count) AS largest
                      FROM made GROUP BY database_id, zone_id) AS m
             WHERE zone.database_id = m.database_id AND zone.id = m.zone_id
            """)
    }
}

/// What makes one attack.
extension AttackGround {
    /// As many zones end as a database may have. The feed has told of all of them.
    func endZones() throws {
        try execute(
            """
            INSERT INTO zone (database_id, name, created_at, removed_at, removal)
            SELECT \(database), 'ended ' || n, now(), now(), 0 FROM generate_series(1, 20000) AS n
            """,
            "INSERT INTO feed (database_id) VALUES (\(database)) ON CONFLICT DO NOTHING",
            """
            INSERT INTO feed_entry (database_id, zone_id, owner_database_id, number, zone_change_number, removal)
            SELECT z.database_id, z.id, z.database_id, f.head + row_number() OVER (ORDER BY z.id), z.change_number, z.removal
              FROM zone z JOIN feed f ON f.database_id = z.database_id
             WHERE z.database_id = \(database) AND z.removal IS NOT NULL
            """, "UPDATE feed SET head = head + 20000 WHERE database_id = \(database)")
    }

    /// A line of children below the record `kin`, all but the last of which go when it goes.
    func makeKin() throws {
        let count = isLong ? 40_000 : 5_000
        try multiply(
            "kin", count: count, name: "CASE WHEN n = \(count) THEN 'last kin' ELSE 'kin ' || n END",
            parent: "CASE WHEN n = 1 THEN 'kin' ELSE 'kin ' || (n - 1) END")
        try execute(
            """
            INSERT INTO record_reference (database_id, zone_id, target, holder)
            SELECT database_id, zone_id, 'kin', name FROM record WHERE database_id = \(database) AND name LIKE 'kin %'
            """)
    }

    static let containerCount = 150

    /// The names of an account's containers begin with it.
    ///
    /// - Parameter number: of the account.
    static func containerPrefix(of number: Int) -> String { "iCloud.test.pushed.\(number)." }

    /// Makes containers with as many subscriptions as a user may have, each like the only one that the account has now.
    func subscribeInContainers() throws {
        let prefix = Self.containerPrefix(of: account.number)
        let users = "container_user u JOIN container c ON c.id = u.container_id AND c.identifier LIKE '\(prefix)%'"
        try execute(
            """
            INSERT INTO container (identifier, environment)
            SELECT '\(prefix)' || n, 1 FROM generate_series(0, \(Self.containerCount - 1)) AS n
            """,
            """
            INSERT INTO container_user (container_id, account_id)
            SELECT id, \(accountID) FROM container WHERE identifier LIKE '\(prefix)%'
            """,
            """
            INSERT INTO database (container_id, scope, user_id)
            SELECT c.id, s.scope, u.id FROM \(users) CROSS JOIN (VALUES (2), (3)) AS s (scope)
            """,
            """
            INSERT INTO zone (database_id, name, created_at)
            SELECT d.id, '_defaultZone', now() FROM \(users) JOIN database d ON d.user_id = u.id AND d.scope = 2
            """,
            """
            INSERT INTO subscription (user_id, scope, id, kind, record_type, notification_info)
            SELECT u.id, m.scope, 'subscription ' || repeat('x', 200) || n, m.kind, m.record_type, m.notification_info
              FROM subscription m JOIN container_user o ON o.id = m.user_id AND o.account_id = \(accountID)
             CROSS JOIN (\(users)) CROSS JOIN generate_series(1, 250) AS n
             WHERE m.id = 'subscription 0'
            """)
    }
}
