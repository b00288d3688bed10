// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkFairness

@testable import TidemarkStore

/// Which kinds of queries begin among the long ones.
@Suite struct SlowQueriesTests {
    private let mine = SlowQueries.Kind("SELECT a", of: .account(1))
    private let others = [
        SlowQueries.Kind("SELECT b", of: .account(1)), SlowQueries.Kind("SELECT a", of: .account(2)),
        SlowQueries.Kind("SELECT a", of: .nobody),
    ]

    @Test func `R-781: a kind of query is slow after the second one that is late, and no other kind is`() {
        var slow = SlowQueries()
        #expect(!slow.isSlow(mine, at: .zero))
        slow.noteLate(mine, at: .seconds(1))
        #expect(!slow.isSlow(mine, at: .seconds(1)), "the machine may have been busy")
        slow.noteLate(mine, at: .seconds(2))
        #expect(slow.isSlow(mine, at: .seconds(2)))
        for other in others { #expect(!slow.isSlow(other, at: .seconds(2))) }
        #expect(slow.isSlow(SlowQueries.Kind("SELECT a", of: .account(1)), at: .seconds(2)))
    }

    @Test func `R-781: a query that ends soon makes its kind unknown again`() {
        var slow = SlowQueries()
        slow.noteSoon(mine)
        slow.noteLate(mine, at: .zero)
        slow.noteSoon(mine)
        slow.noteLate(mine, at: .zero)
        #expect(!slow.isSlow(mine, at: .zero), "two that were late, and not in a row")
        slow.noteLate(mine, at: .zero)
        #expect(slow.isSlow(mine, at: .zero))
        slow.noteSoon(others[0])
        #expect(slow.isSlow(mine, at: .zero))
        slow.noteSoon(mine)
        #expect(!slow.isSlow(mine, at: .zero))
    }

    @Test func `R-781: a kind is tried again when none was late for a minute`() {
        var slow = SlowQueries()
        for time in [0, 59, 118] { slow.noteLate(mine, at: .seconds(time)) }
        #expect(slow.isSlow(mine, at: .seconds(177)))
        #expect(!slow.isSlow(mine, at: .seconds(178)))
        // What was late long ago does not count.
        slow.noteLate(mine, at: .seconds(200))
        #expect(!slow.isSlow(mine, at: .seconds(200)))
        slow.noteLate(mine, at: .seconds(201))
        #expect(slow.isSlow(mine, at: .seconds(201)))
    }

    @Test func `R-712, R-781: an account with very many kinds of slow queries forgets its own`() {
        var slow = SlowQueries()
        for _ in 0..<SlowQueries.lateMin { slow.noteLate(mine, at: .zero) }
        let flood = (0..<1_000).map { SlowQueries.Kind("SELECT \($0)", of: .account(2)) }
        for kind in flood {
            for _ in 0..<SlowQueries.lateMin { slow.noteLate(kind, at: .zero) }
            #expect(slow.isSlow(kind, at: .zero))
        }
        #expect(flood.filter { slow.isSlow($0, at: .zero) } == Array(flood.suffix(SlowQueries.countPerOwnerMax)))
        #expect(slow.isSlow(mine, at: .zero))
    }
}
