// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkFairness
import TidemarkFields
import TidemarkPostgres
import TidemarkScheduling
import TidemarkService
import TidemarkStore
import TidemarkTestSupport

@Suite struct PostgresStorageQueriesTests {
    @Test func `R-177 … R-189: PostgreSQL finds what the evaluator finds, in the same order, on pages of any size`()
        async throws
    {
        try await QueryFixture.run { fixture in
            var generator = QueryDice(random: SeededRandom())
            try await fixture.save([("n0", QueryDice.first)], zone: "notes", counter: 1)
            for (number, zone) in fixture.zones.enumerated() {
                let records = (1..<60).map { (name: "n\($0 + number * 20)", fields: generator.fields()) }
                try await fixture.save(records, zone: zone, counter: UInt64(number) + 2)
            }
            // Some of them change when the type is indexed already.
            _ = try await fixture.storage.queryPage(fixture.page(Query(recordType: "T", zoneName: nil)))
            for round in 0..<4 as Range<UInt64> {
                let records = try await fixture.records()
                let dates = records.map(\.record.createdAt.milliseconds)
                for _ in 0..<75 {
                    let query = generator.query(users: [fixture.identity.user], dates: dates)
                    let size = Int.random(in: 1...40, using: &generator.random)
                    let results = try await fixture.results(of: query, recordsMax: size)
                    let found = results.map { QueryMatchName(zone: $0.zoneName, name: $0.record.name) }
                    let expected = QueryFixture.expected(query, of: records)
                    #expect(found == expected, "seed \(generator.random.seed): \(query)")
                }
                let changed = (0..<20).map { (name: "n\($0)", fields: generator.fields()) }
                try await fixture.save(changed, zone: "notes", counter: 10 + round)
            }
        }
    }

    @Test
    func `R-179, R-186: PostgreSQL searches what is marked, as the evaluator does, whatever was marked before`()
        async throws
    {
        try await QueryFixture.run(environment: .production) { fixture in
            var generator = QueryDice(random: SeededRandom())
            let seed = generator.random.seed
            let choices: [Set<String>] = [
                ["s"], ["s", "u"], ["u", "ls"], QueryDice.texts, [], ["ls"], ["s", "ls"], ["u"],
            ]
            // Whether it made a difference which fields are marked.
            var differs = false
            for (round, searched) in choices.shuffled(using: &generator.random).enumerated() {
                let type = QueryDice.type(searching: searched)
                try await fixture.importSchema(Schema(types: ["T": type]))
                // Some are saved by these marks, others were by those before.
                let saved = (0..<20).map { (name: "n\(round * 10 + $0)", fields: generator.fields()) }
                try await fixture.save(saved, zone: generator.pick(fixture.zones), counter: UInt64(round) + 1)
                let records = try await fixture.records()
                let fields = QueryFields(type, isFrozen: true)
                let dates = records.map(\.record.createdAt.milliseconds)
                for _ in 0..<25 {
                    let search = Query(recordType: "T", zoneName: nil, predicate: generator.search())
                    let any = generator.query(users: [fixture.identity.user], dates: dates)
                    for query in [search, any] {
                        let found = try await fixture.results(of: query).map {
                            QueryMatchName(zone: $0.zoneName, name: $0.record.name)
                        }
                        let expected = QueryFixture.expected(query, of: records, fields: fields)
                        #expect(found == expected, "seed \(seed), \(searched.sorted()): \(query)")
                        differs = differs || expected != QueryFixture.expected(query, of: records)
                    }
                }
            }
            #expect(differs, "seed \(seed)")
        }
    }

    @Test func `R-029, R-174: a zone that is missing is told, and a type that the schema does not have`() async throws {
        try await QueryFixture.run { fixture in
            #expect(await fixture.ask() == .failure(QueryRefusal(.recordTypeUnknown, subject: "T")))
            try await fixture.save([("a", [Field("s", .string("x"))])], zone: "notes", counter: 1)
            #expect(try await fixture.ask().get().matches.map(\.record.name) == ["a"])
            #expect(await fixture.ask(type: "Other") == .failure(QueryRefusal(.recordTypeUnknown, subject: "Other")))
            let storage = fixture.storage
            for type in ["T", "Other"] {
                let missing = try await storage.queryPage(fixture.page(Query(recordType: type, zoneName: "none")))
                #expect(!missing.isZoneFound && missing.matches.isEmpty, "\(type)")
            }
            let id = RequestID(
                device: DeviceID(high: 0, low: 8), counter: 1, lowestUnanswered: 1)
            _ = try await fixture.service.modifyZones(
                in: fixture.identity.privateDatabase, ZonesRequest(id: id, saves: [], deletes: ["notes"]),
                for: .account(fixture.identity.account.rawValue)
            ).get()
            let gone = try await storage.queryPage(fixture.page(Query(recordType: "T", zoneName: "notes")))
            #expect(!gone.isZoneFound && gone.lastRemoval == .deleted)
            #expect(try await fixture.ask().get().matches.isEmpty, "records of a zone that ended are not found")
        }
    }

    @Test func `R-189: a cursor of an earlier life of the store is refused`() async throws {
        try await QueryFixture.run { fixture in
            let records = (0..<3).map { (name: "n\($0)", fields: [Field("n", .int64(Int64($0)))]) }
            try await fixture.save(records, zone: "notes", counter: 1)
            let cursor = try #require(try await fixture.ask(recordsMax: 2).get().cursor?.bytes)
            #expect(try await fixture.ask(cursor: cursor).get().matches.map(\.record.name) == ["n2"])
            try await fixture.admin.renewIncarnation()
            #expect(await fixture.ask(cursor: cursor) == .failure(QueryRefusal(.cursorInvalid)))
        }
    }

    @Test func `R-012, R-190: fields that another server learned a moment ago are found`() async throws {
        try await QueryFixture.run { fixture in
            let other = CloudService(
                storage: fixture.storage, scheduler: fixture.loop, limits: Limits(), onMoved: { _ in })
            try await fixture.save([("a", [Field("s", .string("x"))])], zone: "notes", counter: 1)
            #expect(try await fixture.ask(.search("tide")).get().matches.isEmpty)
            #expect(
                await fixture.ask(.compare(.field("n"), .equal, .int64(7)))
                    == .failure(QueryRefusal(.queryFieldUnknown, subject: "n")))
            let fields = [Field("n", .int64(7)), Field("text", .string("the tide"))]
            try await fixture.save([("b", fields)], zone: "notes", counter: 2, by: other)
            #expect(
                try await fixture.ask(.compare(.field("n"), .equal, .int64(7))).get().matches.map(\.record.name) == [
                    "b"
                ])
            #expect(try await fixture.ask(.search("tide")).get().matches.map(\.record.name) == ["b"])
            await other.stop()
        }
    }

    @Test func `R-190: who saves while a field is indexed for the first time is found`() async throws {
        try await QueryFixture.run { fixture in
            let before = (0..<500).map { (name: "b\($0)", fields: [Field("n", .int64(Int64($0)))]) }
            try await fixture.save(before, zone: "notes", counter: 1)
            let query = Query(
                recordType: "T", zoneName: nil, predicate: .compare(.field("n"), .greaterOrEqual, .int64(0)))
            try await withThrowingTaskGroup(of: Void.self) { group in
                for writer in 0..<4 {
                    group.addTask {
                        for round in 0..<10 {
                            let name = "w\(writer)-\(round)"
                            try await fixture.save(
                                [(name, [Field("n", .int64(Int64(round)))]), ("b\(writer)", [Field("n", .int64(-1))])],
                                zone: "notes", counter: UInt64(round + 1), device: UInt64(writer + 2))
                        }
                    }
                }
                group.addTask { _ = try await fixture.storage.queryPage(fixture.page(query)) }
                try await group.waitForAll()
            }
            let found = try await fixture.results(of: query).map(\.record.name)
            #expect(Set(found).count == 496 + 40 && found.count == 536)
        }
    }

    /// What is asked for, and the index for it.
    private static let plans: [(QueryPredicate, [QuerySort], PhysicalIndex.Kind)] = [
        (.compare(.field("s"), .equal, .string("Text 77")), [], .scalar("s", .equality)),
        (.compare(.field("n"), .equal, .int64(77)), [], .scalar("n", .equality)),
        (.isIn(.field("n"), [.int64(1), .int64(2), .int64(99_999)]), [], .scalar("n", .equality)),
        (.beginsWith(.field("s"), "text 77"), [], .scalar("s", .order)),
        (.between(.field("n"), .int64(10), .int64(12)), [], .scalar("n", .equality)),
        (
            .and([.compare(.field("n"), .equal, .int64(77)), .not(.beginsWith(.field("s"), "x"))]),
            [QuerySort(.field("s"))], .scalar("n", .equality)
        ),
        (.always(true), [QuerySort(.field("n"), isAscending: false)], .scalar("n", .equality)),
        (.always(true), [QuerySort(.field("s"))], .scalar("s", .order)),
        (.contains(.field("tags"), .string("tag 7")), [], .members("tags")),
        (.containsAny(.field("tags"), [.string("tag 7"), .string("tag 8")]), [], .members("tags")),
        (.search("word77"), [], .words),
        (.and([.search("some word77"), .compare(.field("n"), .greater, .int64(5))]), [], .words),
        (
            .isNear(.field("p"), QueryLocation(latitude: 10, longitude: 10), metres: 1_000, isInclusive: true), [],
            .place("p")
        ),
        (.always(true), [], .creationDate),
        (.always(true), [QuerySort(.system(.modificationDate), isAscending: false)], .modificationDate),
    ]

    /// What the planner knows of the table: what was counted when it was small, nothing at all, everything.
    private static let statistics: [(String, [String])] = [
        ("from before", []),
        (
            "none",
            [
                """
                DELETE FROM pg_statistic
                 WHERE starelid IN (SELECT indexrelid FROM pg_index WHERE indrelid = 'record'::regclass
                                    UNION SELECT 'record'::regclass)
                """,
                "UPDATE pg_statistic_ext_data SET stxdexpr = NULL",
            ]
        ),
        ("new", ["ANALYZE"]),
    ]

    /// As many as a server counts when it makes indexes.
    private static let records = (0..<60).map { number in
        let place = FieldLocation(
            latitude: Double(number % 160) - 80, longitude: 10, altitude: 0, horizontalAccuracy: 0,
            verticalAccuracy: 0, course: 0, speed: 0, timestampMilliseconds: 0)
        let fields = [
            Field("s", .string("text \(number)")), Field("n", .int64(Int64(number))),
            Field("tags", .strings(["tag \(number % 500)"])), Field("p", .location(place)),
            Field("body", .string("some word\(number)")),
        ]
        return (name: "n\(number)", fields: fields)
    }

    /// Many more of the same, past the server, whose values are others only where indexes look.
    private static let fill = """
        INSERT INTO record (database_id, zone_id, change_number, batch_end, created_at, created_by, modified_at,
                            modified_by, created_by_device, byte_count, is_deleted, name, type, parent, fields,
                            index_values)
        SELECT database_id, zone_id, 1000 + n, 1000 + n, created_at, created_by, modified_at, modified_by,
               created_by_device, byte_count, false, 'm' || n, 'T', NULL, fields,
               index_values || jsonb_build_object(
                   '=s', 'text ' || n, '<s', 'text ' || n, '=n', '8' || lpad(to_hex(n), 15, '0') || '000',
                   '*tags', jsonb_build_array(database_id || '/' || zone_id || '/tag ' || n % 500),
                   '#', jsonb_build_array(database_id || '/' || zone_id || '/some',
                                          database_id || '/' || zone_id || '/word' || n),
                   '@p', jsonb_build_array(0, 0.5, cos(n)))
          FROM record, generate_series(61, 20000) AS n WHERE name = 'n1'
        """

    @Test func `R-186: what a query needs is indexed, and the index is used whatever the statistics say`() async throws
    {
        try await QueryFixture.run { fixture in
            try fixture.execute("ALTER TABLE record SET (autovacuum_enabled = false)")
            try await fixture.save(Self.records, zone: "notes", counter: 1)
            try await fixture.save([Self.records[0]], zone: ZoneName.default, counter: 2)
            let queries = Self.plans.flatMap { predicate, sorts, kind in
                [nil, "notes"].map { zone in
                    (Query(recordType: "T", zoneName: zone, predicate: predicate, sorts: sorts), kind)
                }
            }
            for (query, _) in queries { _ = try await fixture.storage.queryPage(fixture.page(query)) }
            try await fixture.admin.buildIndexes()
            #expect(try await fixture.admin.indexes().allSatisfy { $0.state == .valid && $0.recordType == "T" })
            try fixture.execute("ANALYZE", Self.fill)
            // A server that has not yet heard of the newest indexes.
            let storage = try PostgresStorage(
                url: fixture.url, loop: fixture.loop, connections: 1, queryTimes: .patient)
            for (state, preparations) in Self.statistics {
                for statement in preparations { try fixture.execute(statement) }
                for (query, kind) in queries {
                    let page = fixture.page(query, recordsMax: 20)
                    let index = PhysicalIndex(recordType: "T", kind: kind)
                    for plan in [
                        try await storage.explain(page).joined(separator: "\n"),
                        try await KeptPlan.of(try await storage.statement(for: page), in: fixture),
                    ] {
                        let isUsed = plan.contains(index.name)
                        #expect(isUsed, "statistics \(state), \(index.kindName), \(query): \(plan)")
                    }
                }
            }
            await storage.stop()
        }
    }

    @Test func `R-181, R-186: a box is looked up around a place, not all that is as far north`() async throws {
        try await QueryFixture.run { fixture in
            try fixture.execute("ALTER TABLE record SET (autovacuum_enabled = false)")
            try await fixture.save(Self.records, zone: "notes", counter: 1)
            let near = Query(
                recordType: "T", zoneName: "notes",
                predicate: .isNear(
                    .field("p"), QueryLocation(latitude: 10, longitude: 10), metres: 5_000, isInclusive: true))
            _ = try await fixture.storage.queryPage(fixture.page(near))
            try await fixture.admin.buildIndexes()
            // All around the earth on two parallels, 2 km from each other: any two axes alone find others beside those here.
            try fixture.execute(
                """
                INSERT INTO record (database_id, zone_id, change_number, batch_end, created_at, created_by, modified_at,
                                    modified_by, created_by_device, byte_count, is_deleted, name, type, parent, fields,
                                    index_values)
                SELECT database_id, zone_id, 1000 + 2 * n + south, 1000 + 2 * n + south, created_at, created_by,
                       modified_at, modified_by, created_by_device, byte_count, false,
                       (CASE south WHEN 0 THEN 'm' ELSE 's' END) || n, 'T', NULL, fields,
                       jsonb_build_object('@p', jsonb_build_array(
                           cosd(10) * cosd(n / 50.0), cosd(10) * sind(n / 50.0), sind(10 - 20 * south)))
                  FROM record, generate_series(1, 18000) AS n, generate_series(0, 1) AS south WHERE name = 'n1'
                """, "ANALYZE")
            let names = try await fixture.storage.queryPage(fixture.page(near)).matches.map(\.record.name)
            #expect(Set(names) == Set(["m498", "m499", "m500", "m501", "m502"]))
            let plan = try await KeptPlan.of(
                try await fixture.storage.statement(for: fixture.page(near)), in: fixture, runs: true)
            let index = PhysicalIndex(recordType: "T", kind: .place("p"))
            let isUsed = plan.contains(index.name)
            #expect(isUsed, "\(plan)")
            let removed = plan.matches(of: /Rows Removed by (?:Filter|Index Recheck): ([0-9]+)/).compactMap {
                Int($0.1)
            }
            #expect(removed.reduce(0, +) <= 2, "\(plan)")
        }
    }

    @Test func `R-012, R-186: in production marks come from the operator, also for records that are there`()
        async throws
    {
        try await QueryFixture.run(environment: .production) { fixture in
            let plain =
                "DEFINE SCHEMA RECORD TYPE T ( \"___recordID\" REFERENCE QUERYABLE, s STRING, n INT64 QUERYABLE );"
            try await fixture.importSchema(plain)
            let fields = [Field("s", .string("x")), Field("n", .int64(7))]
            try await fixture.save([("a", fields)], zone: "notes", counter: 1)
            let byNumber = QueryPredicate.compare(.field("n"), .equal, .int64(7))
            #expect(try await fixture.ask(byNumber).get().matches.map(\.record.name) == ["a"])
            #expect(try await fixture.ask().get().matches.map(\.record.name) == ["a"])
            #expect(try await fixture.ask(.search("x")).get().matches.isEmpty, "nothing is searchable")
            let byText = QueryPredicate.compare(.field("s"), .equal, .string("X"))
            let refusals: [(QueryPredicate, [QuerySort], QueryRefusal)] = [
                (byText, [], QueryRefusal(.fieldNotQueryable, subject: "s")),
                (.always(true), [QuerySort(.field("n"))], QueryRefusal(.fieldNotSortable, subject: "n")),
                (
                    .always(true), [QuerySort(.system(.creationDate))],
                    QueryRefusal(.fieldNotSortable, subject: "creationDate")
                ),
                (.isPresent(.field("other"), true), [], QueryRefusal(.queryFieldUnknown, subject: "other")),
            ]
            for (predicate, sorts, refusal) in refusals {
                #expect(await fixture.ask(predicate, sorts: sorts) == .failure(refusal))
            }
            #expect(refusals[0].2.text.hasPrefix("Field 's' is not marked queryable."))

            let marked = "DEFINE SCHEMA RECORD TYPE T ( s STRING QUERYABLE SORTABLE SEARCHABLE, n INT64 );"
            try await fixture.importSchema(marked)
            try await fixture.save([("b", fields)], zone: "notes", counter: 2)
            for predicate in [byText, .search("X")] {
                let found = try await fixture.ask(predicate, sorts: [QuerySort(.field("s"))]).get()
                #expect(found.matches.map(\.record.name) == ["a", "b"])
            }
            #expect(await fixture.ask(byNumber) == .failure(QueryRefusal(.fieldNotQueryable, subject: "n")))
            #expect(await fixture.ask() == .failure(QueryRefusal(.fieldNotQueryable, subject: "recordName")))
            let schema = try await fixture.storage.schema(of: fixture.identity.container).schema
            #expect(schema == (try Schema(parsing: marked)), "queries mark nothing here")
            #expect(Set(try await fixture.admin.indexes().map(\.state)) == [.valid, .unused])
            try await fixture.admin.buildIndexes()
            #expect(Set(try await fixture.admin.indexes().map(\.state)) == [.valid], "what nobody asks for is dropped")
        }
    }

    @Test func `R-186: nothing is kept beside records that no query asks for, and nothing beside tombstones`()
        async throws
    {
        try await QueryFixture.run { fixture in
            let fields = [Field("s", .string("x")), Field("n", .int64(1))]
            try await fixture.save([("a", fields), ("b", fields)], zone: "notes", counter: 1)
            _ = try await fixture.ask().get()
            #expect(try await fixture.indexedNames() == [])
            _ = try await fixture.ask(.compare(.field("n"), .equal, .int64(1))).get()
            try await fixture.save([("c", fields)], zone: "notes", counter: 2)
            try await fixture.save([("d", fields)], type: "Other", zone: "notes", counter: 3)
            #expect(try await fixture.indexedNames() == ["a", "b", "c"])
            try await fixture.delete(["b"], zone: "notes", counter: 4)
            #expect(try await fixture.indexedNames() == ["a", "c"])
            try await fixture.importSchema(
                "DEFINE SCHEMA RECORD TYPE T ( s STRING, n INT64 ); RECORD TYPE Other ( s STRING, n INT64 );")
            try await fixture.save([("c", [Field("n", .int64(2))])], zone: "notes", counter: 5)
            let left = try await fixture.indexedNames()
            #expect(left == ["a"])
        }
    }

    @Test func `R-186: records are saved while an index is made, and everybody sees that it is`() async throws {
        try await QueryFixture.run { fixture in
            try await fixture.save([("a", [Field("n", .int64(1))])], zone: "notes", counter: 1)
            let query = QueryPredicate.compare(.field("n"), .equal, .int64(1))
            _ = try await fixture.ask(query).get()
            try await fixture.admin.buildIndexes()
            let index = PhysicalIndex(recordType: "T", kind: .scalar("n", .equality))
            try fixture.execute("DROP INDEX \(index.name)")
            func state() async throws -> AdminStore.Index.State? {
                try await fixture.admin.indexes().first { $0.name == index.name }?.state
            }
            #expect(try await state() == .missing)
            // An index is not ready before all end that may have written without it.
            let pool = try PostgresPool(url: fixture.url, connections: 1, loop: fixture.loop)
            let writer = try await pool.acquire()
            let hold = Statement(.write, "hold", "LOCK TABLE record IN ROW EXCLUSIVE MODE")
            _ = try await writer.connection.execute([.begin, hold()])
            let building = fixture.loop.runThrowing { try await fixture.admin.buildIndexes() }
            do {
                try await eventually { try await state() == .building }
                try await fixture.save([("b", [Field("n", .int64(1))])], zone: "notes", counter: 2)
                #expect(
                    try await fixture.ask(query).get().matches.map(\.record.name) == ["a", "b"], "it is not used yet")
                #expect(try await state() == .building)
            } catch {
                Issue.record(error)
            }
            pool.release(writer)
            try await building.value
            await pool.stop()
            #expect(try await state() == .valid)
            #expect(try await fixture.ask(query).get().matches.map(\.record.name) == ["a", "b"])
        }
    }

    /// Of 2,000 records, the query for the last twenty uses the index, and that for nearly all does not.
    private func expectUse(
        of index: String, in fixture: QueryFixture, _ above: (Int64) -> QueryPageQuery
    ) async throws {
        let storage = try PostgresStorage(url: fixture.url, loop: fixture.loop, connections: 1, queryTimes: .patient)
        // Of a third of the records, which is what a plan for all values takes to be found.
        let usual = try await storage.statement(for: above(1_340))
        for (number, isNarrow) in [(1_980, true), (20, false)] as [(Int64, Bool)] {
            for plan in [
                try await storage.explain(above(number)).joined(separator: "\n"),
                try await KeptPlan.of(try await storage.statement(for: above(number)), after: usual, in: fixture),
            ] {
                let isUsed = plan.contains(index)
                #expect(isUsed == isNarrow, "above \(number): \(plan)")
            }
        }
        await storage.stop()
    }

    @Test func `R-186: an index that was not counted is by the next command, and is used for what it narrows`()
        async throws
    {
        try await QueryFixture.run { fixture in
            try fixture.execute("ALTER TABLE record SET (autovacuum_enabled = false)")
            let records = (0..<2_000).map { (name: "n\($0)", fields: [Field("n", .int64(Int64($0)))]) }
            try await fixture.save(records, zone: "notes", counter: 1)
            func above(_ number: Int64) -> QueryPageQuery {
                let predicate = QueryPredicate.compare(.field("n"), .greater, .int64(number))
                return fixture.page(Query(recordType: "T", zoneName: "notes", predicate: predicate))
            }
            _ = try await fixture.storage.queryPage(above(1_980))
            try await fixture.admin.buildIndexes()
            let index = PhysicalIndex(recordType: "T", kind: .scalar("n", .equality)).name
            let counted = """
                SELECT statistics_name::text FROM pg_stats_ext_exprs
                 WHERE statistics_name = '\(index)' AND null_frac IS NOT NULL
                """
            let commands: [(AdminStore) async throws -> Void] = [
                { try await $0.buildMissingIndexes() }, { try await $0.buildIndexes() },
            ]
            // As it is when a command ends after CREATE INDEX, and when it ends before ANALYZE.
            let ends = [
                "DROP STATISTICS \(index)",
                """
                DO $$ DECLARE made text := (SELECT pg_get_statisticsobjdef(oid) FROM pg_statistic_ext
                                             WHERE stxname = '\(index)');
                BEGIN
                    DROP STATISTICS \(index);
                    EXECUTE made;
                END $$
                """,
            ]
            for (command, end) in commands.flatMap({ command in ends.map { (command, $0) } }) {
                try fixture.execute(end)
                #expect(try await fixture.texts(counted).isEmpty)
                #expect(try await fixture.admin.indexes().allSatisfy { $0.state == .valid })
                try await command(fixture.admin)
                #expect(try await fixture.texts(counted) == [index])
                try await expectUse(of: index, in: fixture, above)
            }
            // Once is enough, also of an index with nothing in it.
            try await fixture.importSchema(
                "DEFINE SCHEMA RECORD TYPE T ( n INT64 QUERYABLE ); RECORD TYPE Other ( n INT64 QUERYABLE );")
            try fixture.execute("DELETE FROM pg_statistic WHERE starelid = 'record'::regclass")
            for command in commands { try await command(fixture.admin) }
            #expect(
                try await fixture.texts("SELECT attname::text FROM pg_stats WHERE tablename = 'record'").isEmpty,
                "nobody looked through the table again")
            // What no schema asks for goes with its statistics.
            try await fixture.importSchema("DEFINE SCHEMA RECORD TYPE T ( n INT64 ); RECORD TYPE Other ( n INT64 );")
            try await fixture.admin.buildIndexes()
            #expect(try await fixture.texts("SELECT stxname::text FROM pg_statistic_ext").isEmpty)
        }
    }

    @Test func `R-749: one container in development takes 60 places, and what has none is found all the same`()
        async throws
    {
        try await QueryFixture.run { fixture in
            let keys = (0..<70).map { "k\($0)" }
            let fields = keys.map { Field($0, .int64(1)) }.sorted { $0.key < $1.key }
            try await fixture.save([("r", fields)], type: "Wide", zone: "notes", counter: 1)
            let conditions = keys.map { QueryPredicate.compare(.field($0), .equal, .int64(1)) }
            let query = Query(recordType: "Wide", zoneName: nil, predicate: .and(conditions))
            #expect(try await fixture.results(of: query).map(\.record.name) == ["r"])
            try await fixture.admin.buildIndexes()
            let states = try await fixture.admin.indexes().map(\.state)
            #expect(states.count { $0 == .valid } == 60 && states.count { $0 == .missing } >= 10)
            // An operator's marks have places of their own.
            try await fixture.save([("o", [Field("name", .string("x"))])], type: "Other", zone: "notes", counter: 2)
            var schema = try await fixture.storage.schema(of: fixture.identity.container).schema
            var marks = RecordMarks()
            marks.fields["name"] = .queryable
            schema = schema.marking("Other", marks)
            try await fixture.importSchema(schema)
            #expect(try await fixture.admin.indexes().first { $0.recordType == "Other" }?.state == .valid)
        }
    }

    @Test func `R-748: nobody's query marks nothing, and works once an account's has`() async throws {
        try await QueryFixture.run { fixture in
            let container = ContainerKey(identifier: "iCloud.test", environment: .development)
            let found = try await fixture.service.publicDatabase(of: container).get()
            let alice = RecordAccess(scope: .public, user: fixture.identity.user)
            let nobody = RecordAccess(scope: .public, user: nil)
            let save = RecordSave(
                name: "r", type: "T", tag: nil, fields: try FieldMap([Field("k", .int64(1))]), parent: .unchanged)
            let request = RecordsRequest(
                id: RequestID(device: DeviceID(high: 3, low: 3), counter: 1, lowestUnanswered: 1),
                key: ZoneKey(database: found.database, name: ZoneName.default), saves: [save], deletes: [],
                policy: .allKeys, isAtomic: false, user: fixture.identity.user, access: alice)
            _ = try await fixture.service.modifyRecords([request], for: .account(1))[0].get()
            let query = Query(
                recordType: "T", zoneName: nil, predicate: .compare(.field("k"), .equal, .int64(1)))
            func ask(_ access: RecordAccess) async -> Result<QueryPage, QueryRefusal> {
                await fixture.service.queryRecords(
                    query, in: found.database, of: found.container, by: access, cursor: [],
                    recordsMax: 10, for: WorkTurn(of: .nobody))
            }
            let before = try await fixture.storage.schema(of: found.container)
            #expect(await ask(nobody) == .failure(.notMarkedForNobody))
            #expect(try await fixture.storage.schema(of: found.container).schema == before.schema)
            #expect(try await fixture.admin.indexes().isEmpty)
            #expect(try await ask(alice).get().matches.map(\.record.name) == ["r"])
            #expect(try await ask(nobody).get().matches.map(\.record.name) == ["r"])
        }
    }

    @Test func `an index that was broken off is made anew`() async throws {
        try await QueryFixture.run { fixture in
            try await fixture.save([("a", [Field("n", .int64(1))])], zone: "notes", counter: 1)
            _ = try await fixture.ask(.compare(.field("n"), .equal, .int64(1))).get()
            try await fixture.admin.buildIndexes()
            let index = PhysicalIndex(recordType: "T", kind: .scalar("n", .equality))
            try fixture.execute("UPDATE pg_index SET indisvalid = false WHERE indexrelid = '\(index.name)'::regclass")
            #expect(try await fixture.admin.indexes().filter { $0.state == .invalid }.map(\.name) == [index.name])
            #expect(
                try await fixture.ask(.compare(.field("n"), .equal, .int64(1))).get().matches.count == 1,
                "slower, never wrong")
            try await fixture.admin.buildIndexes()
            #expect(try await fixture.admin.indexes().allSatisfy { $0.state == .valid })
        }
    }

    @Test func `names that look like SQL are only names`() async throws {
        try await QueryFixture.run { fixture in
            let type = "T_1"
            let text = "'; DROP TABLE record; --\u{0}\\"
            try await fixture.save(
                [(name: "it's; \"x\"", fields: [Field("k_1", .string(text))])], type: type, zone: "notes", counter: 1)
            let query = Query(
                recordType: type, zoneName: "notes", predicate: .compare(.field("k_1"), .equal, .string(text)),
                sorts: [QuerySort(.field("k_1"))])
            #expect(try await fixture.results(of: query).map(\.record.name) == ["it's; \"x\""])
            // Unchecked: nothing is stored under such names, and nothing happens.
            let wrong = Query(
                recordType: "T'; DROP TABLE record; --", zoneName: nil,
                predicate: .compare(.field("k'); DROP TABLE record; --"), .equal, .string(text)),
                sorts: [QuerySort(.field("k'--"))])
            #expect(try await fixture.storage.queryPage(fixture.page(wrong)).matches.isEmpty)
            #expect(try await fixture.records().count == 1)
        }
    }
}
