// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Testing
internal import TidemarkLocalPostgres
internal import TidemarkSockets
internal import TidemarkTestSupport

@testable internal import TidemarkPostgres

@Suite struct PostgresPoolTests {
    @Test func `callers get a connection in the order in which they asked`() async throws {
        let served = TestLog<Int>()
        try await withPool { pool in
            let lease = try await pool.acquire()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<20 {
                    group.addTask {
                        try await pool.withConnection { connection in
                            served.append(number)
                            _ = try await connection.execute([Sample.one()])
                        }
                    }
                    try await eventually { await pool.waiterCount == number + 1 }
                }
                pool.release(lease)
                try await group.waitForAll()
            }
        }
        #expect(served.all == Array(0..<20))
    }

    @Test func `as many work at the same time as there are connections`() async throws {
        try await withPool(connections: 3) { pool in
            let backends = try await withThrowingTaskGroup(of: Int32.self) { group in
                for _ in 0..<3 {
                    group.addTask {
                        try await pool.withConnection { connection in
                            try await connection.execute([Sample.sleep(.float8(0.2)), Sample.backend()])[1][0].int32(0)
                        }
                    }
                }
                return try await group.reduce(into: Set<Int32>()) { $0.insert($1) }
            }
            #expect(backends.count == 3)
        }
    }

    @Test func `R-722: a connection is replaced after a large statement, once nobody uses it`() async throws {
        var limits = PostgresPoolLimits()
        limits.renewalDelay = .milliseconds(20)
        let length = Statement(.read, "length", "SELECT length($1)", [.bytea])
        try await withPool(limits: limits) { pool in
            func backend(after byteCount: Int) async throws -> Int32 {
                try await pool.withConnection { connection in
                    let bytes = [UInt8](repeating: 7, count: byteCount)
                    let rows = try await connection.execute([length(.bytea(bytes)), Sample.backend()])
                    #expect(try rows[0][0].int32(0) == Int32(byteCount))
                    return try rows[1][0].int32(0)
                }
            }
            let first = try await backend(after: PostgresConnection.largestSentMin / 2)
            #expect(try await backend(after: PostgresConnection.largestSentMin + 1) == first)
            try await eventually { try await backend(after: 0) != first }
        }
    }

    @Test func `I-7: too many who wait are refused, and the others are served`() async throws {
        var limits = PostgresPoolLimits()
        limits.waiterCountMax = 2
        try await withPool(limits: limits) { pool in
            let lease = try await pool.acquire()
            let waiting = (0..<2).map { _ in
                Task { try await pool.withConnection { try await $0.execute([Sample.one()]).count } }
            }
            try await eventually { await pool.waiterCount == 2 }
            let third = await postgresError { _ = try await pool.acquire() }
            #expect(third?.code == .poolExhausted && third?.isRetryable == true)
            pool.release(lease)
            for task in waiting {
                let count = try await task.value
                #expect(count == 1)
            }
        }
    }

    @Test func `who waits too long is told, and does not wait any more`() async throws {
        try await withPool { pool in
            let lease = try await pool.acquire()
            defer { pool.release(lease) }
            let error = await postgresError { _ = try await pool.acquire(timeout: .milliseconds(100)) }
            #expect(error?.code == .connectionUnavailable && error?.isRetryable == true)
            let count = await pool.waiterCount
            #expect(count == 0)
        }
    }

    @Test func `who is cancelled while waiting leaves the queue, and the others move up`() async throws {
        try await withPool { pool in
            let lease = try await pool.acquire()
            let cancelled = Task { await postgresError { try await pool.withConnection { _ in } } }
            try await eventually { await pool.waiterCount == 1 }
            let other = Task { try await pool.withConnection { try await $0.execute([Sample.one()]).count } }
            try await eventually { await pool.waiterCount == 2 }
            cancelled.cancel()
            #expect(await cancelled.value?.code == .cancelled)
            pool.release(lease)
            #expect(try await other.value == 1)
        }
    }

    @Test func `a cancelled task can still roll back`() async throws {
        try await withPool { pool in
            let task = Task {
                try await pool.withConnection { connection in
                    _ = try await connection.execute([.begin])
                    withUnsafeCurrentTask { $0?.cancel() }
                    return try await connection.execute([Sample.one(), .rollback]).count
                }
            }
            let count = try await task.value
            #expect(count == 2)
        }
    }

    @Test func `nobody there is an error that says why, after the time to wait`() async throws {
        try await withPool(url: "postgresql:///x?host=/nonexistent", limits: .short()) { pool in
            let error = await postgresError { _ = try await pool.execute([Sample.one()]) }
            #expect(error?.code == .connectionUnavailable && error?.detail.contains("/nonexistent") == true)
        }
    }

    @Test func `of several hosts the one that answers is used`() async throws {
        let url = try await TestPostgres.database().url
        let several =
            url.replacing("host=", with: "host=%2Fnonexistent,").replacing("port=5432", with: "port=5432,5432")
            + "&target_session_attrs=read-write"
        try await withPool(url: several) { pool in
            let value = try await pool.execute([Sample.one()])[0][0].int64(0)
            #expect(value == 1)
        }
    }

    @Test func `a lost connection fails what was under way on it, and nothing else`() async throws {
        try await withPool(connections: 2) { pool in
            let kill = Statement(.read, "terminate", "SELECT pg_terminate_backend($1)", [.int4])
            try await pool.withConnection { victim in
                try await pool.withConnection { witness in
                    let pid = try await victim.execute([Sample.backend()])[0][0].int32(0)
                    async let doomed = postgresError { _ = try await victim.execute([Sample.sleep(.float8(60))]) }
                    async let spared = witness.execute([Sample.sleep(.float8(0.3)), Sample.one()])
                    _ = try await pool.execute([kill(.int4(pid))])
                    let error = await doomed
                    #expect(error?.code == .connectionLost && error?.isRetryable == true)
                    #expect(error?.isCommitOutcomeUnknown == false)
                    #expect(try await spared.count == 2)
                    let after = await postgresError { _ = try await victim.execute([Sample.one()]) }
                    #expect(after?.code == .connectionLost)
                }
            }
            // Both places have a connection again.
            let first = try await pool.acquire()
            let second = try await pool.acquire()
            #expect(try await second.connection.execute([Sample.one()]).count == 1)
            pool.release(first)
            pool.release(second)
        }
    }

    @Test func `a connection that was lost while idle is noticed before it is lent`() async throws {
        try await withPool { pool in
            let pid = try await pool.withConnection { try await $0.execute([Sample.backend()])[0][0].int32(0) }
            let kill = Statement(.read, "terminate", "SELECT pg_terminate_backend($1, 5000)", [.int4])
            _ = try await pool.execute([kill(.int4(pid))])
            let next = try await pool.withConnection { try await $0.execute([Sample.backend()])[0][0].int32(0) }
            #expect(next != pid)
        }
    }

    @Test(arguments: [true, false])
    func `I-1: a server that is killed leaves a commit in doubt only if one was under way`(_ commits: Bool) async throws
    {
        try await withServer { server, _, _ in
            try await withPool(url: server.databaseURL("postgres"), connections: 2) { pool in
                _ = try await pool.execute([Sample.createTable()])
                _ = try await pool.execute([Sample.insert(.int8(1))])
                var batch = [.begin, Sample.insert(.int8(2)), Sample.sleep(.float8(60))]
                if commits { batch.append(.commit) }
                let doomed = Task { [batch] in
                    try await pool.withConnection { connection in
                        await postgresError { _ = try await connection.execute(batch) }
                    }
                }
                try await eventually { try await isSleeping(pool) }
                kill(server.processID, SIGKILL)
                let error = try await doomed.value
                #expect(error?.code == .connectionLost && error?.isCommitOutcomeUnknown == commits)
                // PostgreSQL is started again meanwhile, and who asks then does not notice.
                let count = try await countEventually(pool)
                #expect(count == 1)
            }
        }
    }

    @Test func `a backend that is killed takes all others with it, and all come back`() async throws {
        try await withServer { server, _, _ in
            try await withPool(url: server.databaseURL("postgres"), connections: 4) { pool in
                _ = try await pool.execute([Sample.createTable()])
                let pid = try await pool.withConnection { try await $0.execute([Sample.backend()])[0][0].int32(0) }
                let doomed = Task {
                    await withTaskGroup(of: PostgresError?.self) { group in
                        for _ in 0..<10 {
                            group.addTask {
                                await postgresError { _ = try await pool.execute([Sample.sleep(.float8(60))]) }
                            }
                        }
                        return await group.reduce(into: []) { $0.append($1?.code) }
                    }
                }
                try await eventually { try await isSleeping(pool, shared: true) }
                kill(pid, SIGKILL)
                let codes = await doomed.value
                #expect(codes == Array(repeating: .connectionLost, count: 10))
                let count = try await countEventually(pool)
                #expect(count == 0)
            }
        }
    }

    @Test func `a frozen server is left after the time for an answer, and its connection replaced`() async throws {
        let limits = PostgresPoolLimits.short(wait: .seconds(5), request: .milliseconds(300))
        try await withPool(limits: limits) { pool in
            let pid = try await pool.withConnection { try await $0.execute([Sample.backend()])[0][0].int32(0) }
            kill(pid, SIGSTOP)
            defer { kill(pid, SIGCONT) }
            let error = try await pool.withConnection { connection in
                await postgresError { _ = try await connection.execute([Sample.one()]) }
            }
            #expect(error?.code == .timeout && error?.isRetryable == true)
            // Which statement, and where; the statement's values and the password are nobody's business.
            let text = error?.description ?? "nothing"
            let start = "PostgreSQL did not answer in time: statements=\(Sample.one.serverName), server="
            #expect(text.hasPrefix(start) && text.contains("pg_stat_activity"), "\(text)")
            let next = try await pool.withConnection { try await $0.execute([Sample.backend()])[0][0].int32(0) }
            #expect(next != pid)
        }
    }

    @Test func `a request may have a time of its own`() async throws {
        try await withPool { pool in
            let error = await postgresError {
                _ = try await pool.withConnection {
                    try await $0.execute([Sample.sleep(.float8(60))], timeout: .milliseconds(100))
                }
            }
            #expect(error?.code == .timeout && error?.description.contains("statements=sleep_") == true)
            let results = try await pool.execute([Sample.sleep(.float8(0.2))], timeout: .seconds(10))
            #expect(results.count == 1)
        }
    }

    @Test func `R-763: a slow read ends alone, and those who share its connection are answered`() async throws {
        try await withPool(sharedSettings: [("statement_timeout", "200ms")]) { pool in
            let pid = try await pool.execute([Sample.backend()])[0][0].int32(0)
            let codes = await withTaskGroup(of: PostgresError.Code?.self) { group in
                for number in 0..<40 {
                    group.addTask {
                        await postgresError {
                            let sample = number % 10 == 5 ? Sample.sleep(.float8(60)) : Sample.one()
                            _ = try await pool.execute([sample])
                        }?.code
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(codes.filter { $0 == nil }.count == 36)
            #expect(codes.filter { $0 == .statement(.queryCancelled) }.count == 4)
            let now = try await pool.execute([Sample.backend()])[0][0].int32(0)
            #expect(now == pid)
        }
    }

    @Test func `R-763: whoever waits too long behind a slow read is told, and the connection stays`() async throws {
        var limits = PostgresPoolLimits()
        limits.requestTimeout = .seconds(20)
        try await withPool(limits: limits, sharedSettings: [("statement_timeout", "5s")]) { pool in
            let pid = try await pool.execute([Sample.backend()])[0][0].int32(0)
            async let slow = postgresError { _ = try await pool.execute([Sample.sleep(.float8(60))]) }
            try await eventually {
                try await pool.withConnection { try await $0.execute([Sample.sleepers()])[0][0].int64(0) } == 1
            }
            async let late = postgresError { _ = try await pool.execute([Sample.one()], timeout: .milliseconds(100)) }
            let lateError = await late
            #expect(lateError?.code == .timeout && lateError?.description.contains("statements=one") == true)
            #expect(await slow?.code == .statement(.queryCancelled))
            // The late one's results are dropped, and belong to nobody else.
            let now = try await pool.execute([Sample.backend()])[0][0].int32(0)
            #expect(now == pid)
        }
    }

    @Test func `R-763: a server that says nothing at all is left, also on a shared connection`() async throws {
        let limits = PostgresPoolLimits.short(wait: .seconds(5), request: .milliseconds(300))
        try await withPool(limits: limits) { pool in
            let pid = try await pool.execute([Sample.backend()])[0][0].int32(0)
            kill(pid, SIGSTOP)
            defer { kill(pid, SIGCONT) }
            let error = await postgresError { _ = try await pool.execute([Sample.one()]) }
            #expect(error?.code == .timeout)
            let next = try await pool.execute([Sample.backend()])[0][0].int32(0)
            #expect(next != pid)
        }
    }

    @Test(arguments: [false, true])
    func `R-886: a stop that cancels ends what PostgreSQL does for callers, on either kind of connection`(
        _ isShared: Bool
    ) async throws {
        let url = try await TestPostgres.database().url
        let loop = try EventLoop(name: "test")
        defer { loop.stop() }
        var limits = PostgresPoolLimits()
        // Only the cancellation ends the statement, and the stop waits for it.
        limits.requestTimeout = .seconds(600)
        limits.stopTimeout = .seconds(600)
        let pool = try PostgresPool(url: url, connections: 2, loop: loop, limits: limits)
        try await withPool(url: url) { other in
            func sleepers() async throws -> Int64 {
                try await other.withConnection { try await $0.execute([Sample.sleepers()])[0][0].int64(0) }
            }
            let sleeping = Task {
                await postgresError {
                    let batch = [Sample.one(), Sample.sleep(.float8(500)), Sample.one()]
                    if isShared {
                        _ = try await pool.execute(batch)
                    } else {
                        _ = try await pool.withConnection { try await $0.execute(batch) }
                    }
                }
            }
            try await eventually(within: .seconds(60)) { try await sleepers() == 1 }
            await pool.stop(cancels: true)
            #expect(await sleeping.value?.code == .statement(.queryCancelled))
            try await eventually(within: .seconds(60)) { try await sleepers() == 0 }
        }
    }

    @Test func `stop lets those finish who have a connection, and refuses the others`() async throws {
        let loop = try EventLoop(name: "test")
        defer { loop.stop() }
        let pool = try PostgresPool(url: try await TestPostgres.database().url, connections: 1, loop: loop)
        let lease = try await pool.acquire()
        let waiting = Task { await postgresError { _ = try await pool.acquire() } }
        try await eventually { await pool.waiterCount == 1 }
        let stopping = Task { await pool.stop() }
        #expect(await waiting.value?.code == .stopped)
        #expect(try await lease.connection.execute([Sample.one()]).count == 1)
        pool.release(lease)
        await stopping.value
        let late = await postgresError { _ = try await pool.execute([Sample.one()]) }
        #expect(late?.code == .stopped)
        let closed = await postgresError { _ = try await lease.connection.execute([Sample.one()]) }
        #expect(closed?.code == .stopped)
    }

    @Test func `stop does not wait for ever for a connection that does not come back`() async throws {
        let loop = try EventLoop(name: "test")
        defer { loop.stop() }
        let url = try await TestPostgres.database().url
        let pool = try PostgresPool(url: url, connections: 1, loop: loop, limits: .short())
        let lease = try await pool.acquire(timeout: .seconds(5))
        await pool.stop()
        pool.release(lease)
    }

    /// Whether somebody sleeps in PostgreSQL, so that what is under way is under way there.
    private func isSleeping(_ pool: PostgresPool, shared: Bool = false) async throws -> Bool {
        let statement = Statement(
            .read, "sleeping", "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'")
        guard shared else { return try await pool.execute([statement()])[0][0].int64(0) > 0 }
        let rows = try await pool.withConnection { try await $0.execute([statement()]) }
        return try rows[0][0].int64(0) > 0
    }

    /// The rows of the sample table, as soon as PostgreSQL answers again.
    private func countEventually(_ pool: PostgresPool) async throws -> Int64 {
        var count: Int64 = -1
        for _ in 0..<20 {
            let error = await postgresError { count = try await pool.execute([Sample.count()])[0][0].int64(0) }
            if error?.isRetryable != true { return count }
        }
        return count
    }
}

extension PostgresPool {
    /// Who waits for a connection of their own.
    fileprivate var waiterCount: Int {
        get async {
            await withCheckedContinuation { continuation in
                loop.execute { continuation.resume(returning: self.exclusive.waiterCount) }
            }
        }
    }
}
