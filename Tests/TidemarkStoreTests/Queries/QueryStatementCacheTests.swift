// SPDX-License-Identifier: Apache-2.0

import Testing
@testable import TidemarkPostgres

@testable import TidemarkStore

@Suite struct QueryStatementCacheTests {
    private func query(_ sql: String) -> CompiledQuery {
        CompiledQuery(sql: sql, parameters: SQLParameters(), avoidsSorting: false, needsOwnPlan: false)
    }

    @Test func `a shape of query has one statement, and takes the place of the one that was not asked for longest`() {
        let cache = QueryStatementCache(countMax: 2)
        let names = ["a", "b", "a", "c", "a", "b", "c"].map { cache.statement(query("SELECT \($0)")).serverName }
        #expect(
            names == [
                "query_at_0", "query_at_1", "query_at_0", "query_at_1", "query_at_0", "query_at_1", "query_at_0",
            ])
    }
}
