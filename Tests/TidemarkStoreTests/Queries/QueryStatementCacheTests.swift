// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkFairness
import TidemarkTelemetry

@testable import TidemarkPostgres
@testable import TidemarkStore

@Suite struct QueryStatementCacheTests {
    private func query(_ sql: String, _ parameters: [(PostgresValue, PostgresType)] = []) -> CompiledQuery {
        var all = SQLParameters()
        for (value, type) in parameters { _ = all.add(value, type) }
        return CompiledQuery(sql: sql, parameters: all, avoidsSorting: false, needsOwnPlan: false)
    }

    @Test func `a shape of query has one statement, and takes the place of the one that was not asked for longest`() {
        let cache = QueryStatementCache(countMax: 2)
        let names = ["a", "b", "a", "c", "a", "b", "c"].map { cache.statement(query("SELECT \($0)")).serverName }
        #expect(
            names == [
                "query_at_0", "query_at_1", "query_at_0", "query_at_1", "query_at_0", "query_at_1", "query_at_0",
            ])
    }

    @Test func `R-712: an account with very many shapes of queries takes its own places, and nobody else's`() {
        let cache = QueryStatementCache(countMax: 9)
        func statement(_ name: Int, _ account: Int64) -> String {
            "\(cache.statement(query("SELECT \(name)"), for: .account(account)).keeping)"
        }
        let before = (1...3).map { statement($0, 1) }
        for name in 10..<100 { _ = statement(name, 2) }
        for name in 100..<200 { _ = statement(name, 3) }
        #expect((1...3).map { statement($0, 1) } == before)
    }

    @Test func `one text with other parameters is another statement`() {
        let cache = QueryStatementCache()
        let shapes: [[(PostgresValue, PostgresType)]] = [[], [(.text("a"), .text)], [(.int8(1), .int8)]]
        for parameters in shapes + shapes {
            let query = query("SELECT", parameters)
            let bound = cache.statement(query).bind(query.parameters.values)
            #expect(bound.statement.parameterTypes == parameters.map(\.1))
        }
    }

    @Test func `R-824: a query's statement has its hash, kept or not, unless it is too long to be hashed each time`() {
        let short = query("SELECT 1")
        let marked = StatementHash.marked("SELECT 1")
        #expect(QueryStatementCache().statement(short).sql == marked)
        #expect(QueryStatementCache.statementForOnce(short).sql == marked)
        let long = query("SELECT " + String(repeating: "1", count: QueryStatementCache.textBytesMax))
        #expect(QueryStatementCache().statement(long).sql == long.sql)
        #expect(QueryStatementCache.statementForOnce(long).sql == long.sql)
    }

    @Test func `I-7: what is long is not kept, and takes nobody's place`() {
        let cache = QueryStatementCache(countMax: 1)
        let short = cache.statement(query("SELECT 1"))
        let long = query("SELECT " + String(repeating: "1", count: QueryStatementCache.textBytesMax))
        #expect(!cache.statement(long).isPrepared && short.isPrepared)
        // Another number would be another statement in its place.
        #expect("\(cache.statement(query("SELECT 1")).keeping)" == "\(short.keeping)")
    }
}
