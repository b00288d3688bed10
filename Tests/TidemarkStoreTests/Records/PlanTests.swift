// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkSockets
import TidemarkTestSupport

@testable import TidemarkPostgres
@testable import TidemarkStore

/// Statements of the write path and the feeds must not depend on statistics: on a freshly filled table PostgreSQL has none.
@Suite struct PlanTests {
    private static let tables = [
        "zone", "record", "request_memory", "feed_entry", "record_reference", "client_token", "asset", "asset_use",
        "subscription", "zone_key", "key_grant", "share", "share_participant", "share_requester", "share_link",
        "share_link_target", "shared_zone", "share_record", "device", "device_progress",
    ]

    private static let fill = record(zone: "1", from: 1, to: 20_000) + ";" + refer

    /// Thousands of records go with each of some.
    private static let refer = """
        INSERT INTO record_reference SELECT 1, 1, 'r' || (n / 5000), 'r' || n FROM generate_series(1, 20000) AS n
        """

    /// So that a zone holds two records on average.
    private static let fillSmall = """
        INSERT INTO zone (database_id, name, created_at) SELECT n, 'Notes', now() FROM generate_series(1, 10000) AS n;
        """ + record(zone: "n", from: 20_001, to: 30_000)

    private static func record(zone: String, from first: Int, to last: Int) -> String {
        """
        INSERT INTO record SELECT 1, \(zone), n, n, now(), 1, now(), 1, '00000000-0000-0000-0000-000000000001', 1, false,
               'r' || n, 'Note', NULL, '' FROM generate_series(\(first), \(last)) AS n
        """
    }

    /// Each with what its plan must look up by: every column of the key, none of which is left to a filter.
    private static let hot: [(any AnyDeclaredStatement, [String])] = [
        (sql.records.lockZones, [living, "(database_id = k.database_id) AND (id >= zone.id)"]),
        (
            sql.records.writeIfStill,
            [
                "(database_id = k.database_id) AND (id >= k.id)", "(database_id = k_2.database_id) AND (id = k_2.id)",
                "(database_id = k_1.database_id) AND (zone_id = k_1.zone_id) AND (name >= k_1.name)",
            ]
        ),
        (
            sql.records.writeRunIfStill,
            [
                "using zone_pkey", "(database_id = $8) AND (id = $9)",
                "(database_id = ($8)) AND (zone_id = ($9)) AND (name >= (unnest($14)))",
            ]
        ),
        (sql.records.writeRun, ["using zone_pkey", "(database_id = $8) AND (id = $9)"]),
        (sql.zones.lockNamed, ["(name >= n.name)", "(id >= zone.id)"]),
        (sql.zones.named, ["using zone_living", "AND (name >= k.name)", "using share_living", "AND (zone_id >= "]),
        (sql.zones.living, ["using zone_living", living]),
        (
            sql.zones.page,
            ["using zone_pkey", "(database_id = $1) AND (id > $2)", "using share_living", "AND (zone_id >= "]
        ),
        (sql.records.lockZone, ["(database_id = $1) AND (name >= $2)"]),
        (
            sql.records.readOne,
            [
                "(database_id = $1) AND (name >= $2)", "(database_id = $1) AND (zone_id = $1) AND (device_id >= $3)",
                "(database_id = $1) AND (zone_id = $2) AND (name >= $4)",
            ]
        ),
        (
            sql.records.readRecords,
            [livingOnce, "(database_id = ($4)[k.place]) AND (zone_id = ($2)[k.place]) AND (name >= k.record_name)"]
        ),
        (
            sql.records.readMemories,
            [livingOnce, "(database_id = ($3)[k.place]) AND (zone_id = ($2)[k.place]) AND (device_id >= k.device_id)"]
        ),
        (
            sql.records.readChildren,
            [living, "AND (target >= t_1.name)", "(zone_id = t.zone_id) AND (parent >= t.name)"]
        ),
        (
            sql.records.lookUpRecords,
            ["(database_id = $1) AND (name >= $2)", "(zone_id = $1) AND (name >= k.name)"]
        ),
        (sql.records.write, ["(database_id = k_1.database_id) AND (id = k_1.id)"]),
        (sql.quotas.lock, ["(id >= k.id)"]),
        (sql.quotas.byteCounts, ["(database_id = d.id)"]),
        (
            sql.records.readAncestors,
            [living, "(zone_id = l_1.zone_id) AND (name >= l_1.name)", "(zone_id = l.zone_id) AND (name >= l.name)"]
        ),
        (
            sql.records.readCascade,
            [living, "AND (target >= t_1.name)", "AND (target >= t.name)", "AND (name >= record_reference.holder)"]
        ),
        (
            sql.records.countReferences,
            [
                livingOnce, "(zone_id = z.id) AND (target >= k.target)",
            ]
        ),
        (sql.records.writeReferences, ["(zone_id = k.zone_id) AND (holder >= k.holder)", "hashed SubPlan"]),
        (
            sql.records.writeClientTokens,
            ["using client_token_number", "AND (user_id = ", "AND (number <= ", "TID Cond"]
        ),
        (
            sql.changes.zonePage,
            [
                "(database_id = $3) AND (name >= $4)", "using record_changes", "AND (change_number > $6)",
                "AND (device_id >= $5)",
            ]
        ),
        (
            sql.changes.firstZonePage,
            [
                "(database_id = $3) AND (name >= $4)", "using record_changes",
                "AND (change_number > $5) AND (change_number < COALESCE(", "AND (device_id >= $8)",
            ]
        ),
        (sql.changes.inventory, ["(database_id = $1) AND (name >= $2)", "using record_pkey", "AND (name > $3)"]),
        (sql.changes.databaseFeed, ["(database_id = z", "AND (zone_id >= z"]),
        // each step reads a bounded number of rows.
        (sql.assets.unused, ["(ROW(database_id, sha256) > ROW("] + use),
        (sql.assets.isStillUnused, use),
        (sql.zones.ended, ["using zone_removed", "(ROW(database_id, name, id) > ROW("]),
        (sql.zones.clearAssetUses, ["using asset_use_record", "(zone_id = z.id)", "TID Cond"]),
        (sql.zones.clearMemories, ["(ROW(database_id, zone_id, device_id) > ROW(", "TID Cond"]),
        (sql.compaction.forgetZones, ["(zone_id >= z.id)", "(id >= told.zone_id)", "TID Cond"]),
        (sql.compaction.forgetOldestZones, ["(zone_id >= z.id)", "(id >= told.zone_id)", "TID Cond"]),
        (sql.subscriptions.all, ["(user_id = $1)"] + subscribed),
        (sql.subscriptions.clearEnded, ["(user_id = $1)"] + subscribed),
        (sql.subscriptions.keys, ["using subscription_pkey", "(user_id = $1)"]),
        (sql.subscriptions.zones, ["using database_private", "(database_id = database.id) AND (name >= n.zone_name)"]),
        (sql.subscriptions.delete, ["(user_id = $1) AND (scope = $2)"] + subscribed),
        (
            sql.keys.readZoneKeys,
            [
                "(database_id = k.database_id) AND (name >= k.zone_name)",
                "(database_id = k.database_id) AND (zone_id >= zone.id)",
            ]
        ),
        (
            sql.sharing.readAccess,
            [living, shares, "(share_number = share.number) AND (user_id >= w.user_id)", "using database_pkey"]
        ),
        (sql.sharing.readPeople, people),
        (sql.sharing.readShown, people + ["using container_user_pkey", "using account_pkey"]),
        (sql.sharing.readLinked, people + ["using container_user_pkey", "using account_pkey"]),
        // from the token on, and no further than the page reaches. What is only looked at is not read.
        (
            sql.hierarchies.page,
            [
                "Index Only Scan using share_record_number", "Index Scan using share_record_number",
                "(share_number = k.share_number) AND (number > $", "(share_number = k_2.share_number) AND (number > $",
                "AND (number <= $", "using share_record_pkey", "using record_pkey",
            ]
        ),
        (sql.sharing.pointLink, ["using share_link_target_zone", "using share_link_pkey", "TID Cond"]),
        (
            sql.sharing.linkedZones,
            [
                "using share_link_target_pkey", "(secret_hash >= h.secret_hash)", "(id >= share_link_target.zone_id)",
                "using database_pkey",
            ]
        ),
        (sql.sharedFeeds.page, ["(database_id = $1) AND (zone_id > $2)"] + access),
        (
            sql.sharedFeeds.databaseFeed,
            ["using shared_zone_pkey", "using feed_entry_number", "using feed_entry_last_end", "AND (last_end > $"]
                + access
        ),
        (sql.sharedFeeds.numberZones, ["using shared_zone_pkey", "using feed_entry_pkey"] + access),
        (sql.sharedFeeds.pointViewer, ["using shared_zone_pkey", "using feed_entry_pkey"] + access),
        (sql.sharedFeeds.marks, ["(database_id >= k.database_id)", "(id >= shared_zone.zone_id)"] + access),
        // as many devices as one statement has.
        (
            sql.devices.progress,
            ["using device_progress_pkey", "(account_id = k.account_id) AND (device_id >= k.device_id)"]
        ),
        (sql.devices.keep, ["using device_pkey", "(account_id = k.account_id) AND (id >= k.device_id)"]),
        (sql.scan.page, ["using record_pkey", "(database_id = $2) AND (ROW(zone_id, name) > ROW($3, $4))"]),
    ]

    private static let living = "(database_id = k.database_id) AND (name >= k.zone_name)"
    /// The same in a list of ids that is made once a statement.
    private static let livingOnce = "(database_id = k_1.database_id) AND (name >= k_1.zone_name)"

    /// The uses of an asset, and their zones.
    private static let use = [
        "(database_id = a.database_id) AND (sha256 >= a.sha256)", "(database_id = u.database_id) AND (id >= u.zone_id)",
    ]

    /// All shares of a zone.
    private static let shares =
        "Index Cond: ((database_id = k.database_id) AND (zone_id >= zone.id) AND (zone_id <= zone.id))"

    /// All people of chosen shares, by their names and their links, and some users' rows in the others.
    private static let people = [
        living, shares, "(share_number >= c.number)", "(share_number = c.number) AND (user_id >= w.user_id)",
        "using share_link_pkey", "(sha256(secret) >= w_2.hash)",
    ]

    /// Whether a user has access to a zone, however many take part.
    private static let access = ["using share_living", "using share_participant_user", "AND (user_id >= "]

    /// The zone of a subscription.
    private static let subscribed = [
        "using subscription_pkey", "using database_private", "(user_id >= s.user_id)",
        "(database_id = database.id) AND (id >= s.zone_id)",
    ]

    /// What statistics may know when a connection makes its plans.
    private static let states: [(String, [String])] = [
        ("empty tables", []),
        ("full tables that nobody has counted", [fill]),
        ("one large zone among many small ones", [fillSmall, "ANALYZE"]),
    ]

    @Test func `every hot statement goes by the whole key of an index, whatever the statistics say`() async throws {
        try await StoreFixture.run { fixture in
            try PostgresAdministration.execute(
                Self.tables.map { "ALTER TABLE \($0) SET (autovacuum_enabled = false)" }, url: fixture.database.url)
            let pool = try PostgresPool(
                url: fixture.database.url, connections: 1, loop: fixture.loop,
                sessionSettings: PostgresStorage.sessionSettings)
            for (state, preparations) in Self.states {
                if !preparations.isEmpty {
                    try PostgresAdministration.execute(preparations, url: fixture.database.url)
                }
                for (declared, conditions) in Self.hot {
                    let statement = declared.statement
                    let plan = try await explain(statement, pool)
                    for condition in conditions {
                        #expect(plan.contains(condition), "\(state): \(statement.serverName)\n\(plan)")
                    }
                    for scan in ["Seq Scan on record", "Seq Scan on zone", "Bitmap", "Join Filter"] {
                        #expect(!plan.contains(scan), "\(state): \(statement.serverName)\n\(plan)")
                    }
                }
            }
            // a page of keys is read, and no more.
            let keys = try await explain(sql.keys.readZoneKeys.statement, pool)
            #expect(!keys.contains("Sort"), "\(keys)")
            let marks = try await explain(sql.sharedFeeds.marks.statement, pool)
            #expect(!marks.contains("Sort"), "\(marks)")
            // The secret of a URL is looked up once for a zone and for each hierarchy, however many take part.
            let people = try await explain(sql.sharing.readPeople.statement, pool)
            let row = try #require(people.firstRange(of: "on share_participant"))
            #expect(people[..<row.lowerBound].split(separator: "using share_link_pkey").count == 3, "\(people)")
            #expect(!people[row.lowerBound...].contains("share_link"), "\(people)")
            await pool.stop()
        }
    }

    /// The generic plan, which is the one that a connection keeps.
    private func explain(_ statement: Statement, _ pool: PostgresPool) async throws -> String {
        let arguments = statement.parameterTypes.map { _ in "NULL" }.joined(separator: ", ")
        let types = statement.parameterTypes.map(\.name).joined(separator: ", ")
        return try await pool.withConnection { connection in
            try await connection.executeScript("PREPARE p (\(types)) AS \(statement.sql)")
            let explain = Statement(.read, "explain", "EXPLAIN (COSTS OFF) EXECUTE p (\(arguments))")
            let rows = try await connection.execute([explain()])[0]
            try await connection.executeScript("DEALLOCATE p")
            return try rows.map { try $0.string(0) }.joined(separator: "\n")
        }
    }
}

extension PostgresType {
    fileprivate var name: String {
        switch self {
        case .bool: "boolean"
        case .bytea: "bytea"
        case .timestamptz: "timestamptz"
        case .int2: "smallint"
        case .int4: "integer"
        case .int8: "bigint"
        case .text: "text"
        case .uuid: "uuid"
        case .int8Array: "bigint[]"
        case .textArray: "text[]"
        case .uuidArray: "uuid[]"
        case .int4Array: "integer[]"
        case .boolArray: "boolean[]"
        case .byteaArray: "bytea[]"
        case .timestamptzArray: "timestamptz[]"
        default: "oid_\(rawValue)"
        }
    }
}
