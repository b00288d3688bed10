// SPDX-License-Identifier: Apache-2.0

internal import Testing
internal import TidemarkSockets
internal import TidemarkTestSupport

@testable internal import TidemarkPostgres

@Suite struct PostgresConnectionTests {
    @Test func `a batch is answered together, in order`() async throws {
        try await withPool { pool in
            let results = try await pool.execute((0..<20).map { Sample.echo(.int8($0)) })
            #expect(try results.map { try $0[0].int64(0) } == Array(0..<20))
            #expect(try await pool.execute([]).isEmpty)
        }
    }

    @Test func `many batches are under way on one connection`() async throws {
        try await withPool { pool in
            let backends = try await withThrowingTaskGroup(of: Int32.self) { group in
                for number in 0..<500 {
                    group.addTask {
                        let rows = try await pool.execute([Sample.echo(.int8(Int64(number))), Sample.backend()])
                        #expect(try rows[0][0].int64(0) == Int64(number))
                        return try rows[1][0].int32(0)
                    }
                }
                return try await group.reduce(into: Set<Int32>()) { $0.insert($1) }
            }
            #expect(backends.count == 1)
        }
    }

    @Test func `connections keep as many statements as there are places`() async throws {
        try await withPool { pool in
            try await pool.withConnection { connection in
                let statements = (0..<7).map { number in
                    Statement(.read, "number", "SELECT \(number)::bigint + $1", [.int8], place: number % 3)
                }
                let broken = Statement(.read, "number", "SELECT x FROM nowhere WHERE y = $1", [.int8], place: 0)
                let kept = Statement(
                    .read, "kept", "SELECT name FROM pg_prepared_statements WHERE name LIKE 'number_at_%' ORDER BY name"
                )
                for number in [0, 1, 2, 3, 3, 0, 6, 4, 5, 6, 0] {
                    let rows = try await connection.execute([statements[number](.int8(100)), Sample.echo(.int8(1))])
                    #expect(try rows[0][0].int64(0) == Int64(100 + number))
                }
                let names = try await connection.execute([kept()])[0].map { try $0.string(0) }
                #expect(names == ["number_at_0", "number_at_1", "number_at_2"])
                let error = await postgresError { _ = try await connection.execute([broken(.int8(1))]) }
                #expect(error?.code == .statement(.undefinedTable))
                #expect(try await connection.execute([statements[3](.int8(1))])[0][0].int64(0) == 4)
                let all = try await connection.execute(statements[4...6].map { $0(.int8(0)) })
                #expect(try all.map { try $0[0].int64(0) } == [4, 5, 6])
            }
        }
    }

    @Test func `an error in the middle undoes its batch, and leaves the connection and its neighbours alone`()
        async throws
    {
        try await withPool { pool in
            try await pool.withConnection { connection in
                _ = try await connection.execute([Sample.createTable()])
                async let good = connection.execute([Sample.echo(.int8(1))])
                let error = await postgresError {
                    _ = try await connection.execute([
                        Sample.insert(.int8(1)), Sample.divide(.int4(0)), Sample.insert(.int8(2)),
                    ])
                }
                #expect(error?.code == .statement(SQLState("22012")) && error?.statementIndex == 1)
                #expect(error?.isRetryable == false && error?.isCommitOutcomeUnknown == false)
                #expect(try await good[0][0].int64(0) == 1)
                #expect(try await connection.execute([Sample.count()])[0][0].int64(0) == 0)
            }
        }
    }

    @Test func `a violated constraint is told by name, and user data only in the debug description`() async throws {
        try await withPool { pool in
            _ = try await pool.execute([Sample.createTable()])
            _ = try await pool.execute([Sample.insert(.int8(4711))])
            let error = await postgresError { _ = try await pool.execute([Sample.insert(.int8(4711))]) }
            #expect(error?.code == .statement(.uniqueViolation) && error?.constraint == "t_pkey")
            #expect(error?.description.contains("4711") == false && error?.debugDescription.contains("4711") == true)
        }
    }

    @Test func `batches of different sizes and failures in random order are each answered as they should`() async throws
    {
        var random = SeededRandom()
        let seed = random.seed
        let batches = (0..<300).map { _ in
            (0..<Int.random(in: 1...6, using: &random)).map { _ in Int32.random(in: 0...5, using: &random) }
        }
        try await withPool { pool in
            await withTaskGroup(of: Void.self) { group in
                for batch in batches {
                    group.addTask {
                        let error = await postgresError {
                            let rows = try await pool.execute(batch.map { Sample.divide(.int4($0)) })
                            #expect(try rows.map { try $0[0].int32(0) } == batch.map { 1 / $0 }, "seed \(seed)")
                        }
                        #expect(error?.statementIndex == batch.firstIndex(of: 0), "seed \(seed)")
                    }
                }
            }
        }
    }

    @Test func `a statement that cannot be prepared says why, and may succeed later`() async throws {
        try await withPool { pool in
            let error = await postgresError { _ = try await pool.execute([Sample.one(), Sample.count()]) }
            #expect(error?.code == .statement(.undefinedTable) && error?.statementIndex == 1)
            _ = try await pool.execute([Sample.createTable()])
            #expect(try await pool.execute([Sample.count()])[0][0].int64(0) == 0)
        }
    }

    @Test func `a transaction spans batches, and its commit is seen by others`() async throws {
        try await withPool(connections: 2) { pool in
            _ = try await pool.execute([Sample.createTable()])
            try await pool.withConnection { connection in
                _ = try await connection.execute([.begin, Sample.insert(.int8(1))])
                #expect(try await pool.execute([Sample.count()])[0][0].int64(0) == 0)
                _ = try await connection.execute([Sample.insert(.int8(2)), .commit])
                #expect(try await pool.execute([Sample.count()])[0][0].int64(0) == 2)
            }
        }
    }

    @Test func `I-1: the commit of a transaction that has failed is an error`() async throws {
        try await withPool { pool in
            _ = try await pool.execute([Sample.createTable()])
            try await pool.withConnection { connection in
                let first = await postgresError {
                    _ = try await connection.execute([.begin, Sample.insert(.int8(1)), Sample.divide(.int4(0))])
                }
                #expect(first?.statementIndex == 2)
                let second = await postgresError { _ = try await connection.execute([.commit]) }
                #expect(second?.code == .statement(.inFailedTransaction))
            }
            #expect(try await pool.execute([Sample.count()])[0][0].int64(0) == 0)
        }
    }

    @Test func `a transaction that is left open is rolled back before the next caller`() async throws {
        struct Left: Error {}
        try await withPool { pool in
            _ = try await pool.execute([Sample.createTable()])
            for failing in [Sample.one(), Sample.divide(.int4(0))] {
                await #expect(throws: (any Error).self) {
                    try await pool.withConnection { connection in
                        _ = try await connection.execute([.begin, Sample.insert(.int8(1)), failing])
                        throw Left()
                    }
                }
                let count = try await pool.withConnection { connection in
                    try await connection.execute([Sample.count()])[0][0].int64(0)
                }
                #expect(count == 0)
            }
        }
    }

    @Test func `a script runs several statements, and its error leaves the connection usable`() async throws {
        try await withPool { pool in
            try await pool.withConnection { connection in
                try await connection.executeScript(
                    "CREATE TABLE t (a int8); INSERT INTO t VALUES (1); INSERT INTO t SELECT a + 1 FROM t")
                let error = await postgresError {
                    try await connection.executeScript("INSERT INTO t VALUES (3); SELECT nothing; SELECT 1")
                }
                #expect(error?.code == .statement(SQLState("42703")))
                #expect(try await connection.execute([Sample.count()])[0][0].int64(0) == 2)
                try await connection.executeScript("")
            }
        }
    }

    @Test func `large parameters and results pass in both directions at once`() async throws {
        let big = Statement(.read, "big", "SELECT $1::bytea, repeat('y', 1500000)", [.bytea])
        try await withPool { pool in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<4 as Range<UInt8> {
                    group.addTask {
                        let bytes = [UInt8](repeating: number, count: 2_000_000)
                        let rows = try await pool.execute([big(.bytea(bytes)), big(.bytea(bytes))])
                        #expect(try rows[1][0].bytes(0) == bytes)
                        #expect(try rows[0][0].string(1).utf8.count == 1_500_000)
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    @Test func `settings of the session are in force, whatever their values contain`() async throws {
        let settings = [
            ("lock_timeout", "2s"), ("tidemark.note", "a b \"c\\d\""), ("idle_in_transaction_session_timeout", "5s"),
        ]
        try await withPool(settings: settings) { pool in
            let statement = Statement(
                .read, "settings",
                "SELECT current_setting('lock_timeout'), current_setting('tidemark.note'), current_setting('application_name')"
            )
            let row = try await pool.execute([statement()])[0][0]
            #expect(try row.string(0) == "2s" && row.string(1) == "a b \"c\\d\"" && row.string(2) == "tidemark")
        }
    }

    @Test(arguments: ["postgresql://[bad", "host=", "nonsense=1", "postgresql:///x?port=abc&&"])
    func `a connection string that is not one is an error at once, or none can be made`(_ url: String) async throws {
        let loop = try EventLoop(name: "test")
        defer { loop.stop() }
        let error = await postgresError {
            let pool = try PostgresPool(url: url, connections: 1, loop: loop, limits: .short())
            let failure = await postgresError { _ = try await pool.execute([Sample.one()]) }
            await pool.stop()
            if let failure { throw failure }
        }
        #expect(error?.code == .invalidURL || error?.code == .connectionUnavailable)
    }
}
