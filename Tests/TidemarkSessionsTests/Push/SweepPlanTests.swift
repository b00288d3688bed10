// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkTestSupport

@testable import TidemarkSessions

/// Which databases a sweep looks at, alone: no store, no session.
@Suite struct SweepPlanTests {
    private func candidate(
        _ database: Int64, of account: Int64, zones: Int?, lastSweep: Int = 1
    ) -> SweepPlan.Candidate {
        SweepPlan.Candidate(
            database: DatabaseID(database), account: AccountID(account), zoneCount: zones, lastSweep: lastSweep)
    }

    @Test func `R-769: a step of the sweep has so many databases, and all of them are looked at`() {
        let all = (1...120 as ClosedRange<Int64>).map { candidate($0, of: $0, zones: 2) }
        let steps = SweepPlan(all.reversed()).steps
        #expect(steps.map(\.count) == [50, 50, 20])
        #expect(steps.joined().map(\.rawValue) == Array(1...120))
        #expect(SweepPlan([]).steps.isEmpty)
    }

    @Test func `R-739: a step of the sweep reads so many zones, and a database of which nobody knows is alone`() {
        let counts: [Int?] = [10_000, 10_000, 10_000, 1, nil, 1, 29_999, 40_000, 5]
        let all = counts.enumerated().map { candidate(Int64($0), of: Int64($0), zones: $1) }
        #expect(SweepPlan(all).steps.map { $0.map(\.rawValue) } == [[0, 1, 2], [3], [4], [5, 6], [7], [8]])
    }

    @Test func `R-739: of an account with very many zones a sweep reads a part, and the next ones read the rest`() {
        // What each sweep looked at last.
        var lastSweeps: [Int64: Int] = [:]
        let large = (1...21 as ClosedRange<Int64>)
        let small = (31...33 as ClosedRange<Int64>)
        for sweep in 1...12 {
            let all =
                large.map { candidate($0, of: 1, zones: 30_000, lastSweep: lastSweeps[$0] ?? 0) }
                + small.map { candidate($0, of: $0, zones: 3, lastSweep: lastSweeps[$0] ?? 0) }
            let looked = SweepPlan(all).steps.joined().map(\.rawValue)
            #expect(Set(looked).isSuperset(of: small), "others are looked at by each")
            #expect(looked.count { large.contains($0) } == SweepPlan.zonesPerAccount / 30_000)
            for database in looked { lastSweeps[database] = sweep }
            if sweep % 6 == 0 {
                #expect(large.allSatisfy { lastSweeps[$0] ?? 0 > sweep - 6 }, "each of them in six sweeps")
            }
        }
    }

    @Test func `R-739: a database with more zones than a sweep reads for an account has its turn all the same`() {
        let huge = SweepPlan.zonesPerAccount + 1
        for newest in 1...2 as ClosedRange<Int64> {
            let all = (1...2 as ClosedRange<Int64>).map {
                candidate($0, of: 1, zones: huge, lastSweep: $0 == newest ? 2 : 1)
            }
            #expect(SweepPlan(all).steps == [[DatabaseID(3 - newest)]])
        }
    }

    @Test func `R-739, R-769: whatever the databases are, steps and accounts keep their bounds`() {
        var random = SeededRandom(seed: 739)
        func below(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }
        for _ in 0..<300 {
            let all = (0..<below(200)).map { number in
                let zones = below(9) == 0 ? nil : below(below(5) == 0 ? 50_000 : 50)
                return candidate(Int64(number), of: Int64(below(4)), zones: zones, lastSweep: below(3))
            }
            let counts = Dictionary(
                uniqueKeysWithValues: all.map { ($0.database, $0.zoneCount ?? SweepPlan.zonesPerStep) })
            let accounts = Dictionary(uniqueKeysWithValues: all.map { ($0.database, $0.account) })
            let steps = SweepPlan(all).steps
            for step in steps {
                let zones = step.reduce(0) { $0 + (counts[$1] ?? 0) }
                #expect(!step.isEmpty && step.count <= SweepPlan.databasesPerStep)
                #expect(zones <= SweepPlan.zonesPerStep || step.count == 1)
            }
            let looked = steps.flatMap(\.self)
            #expect(Set(looked).count == looked.count)
            for account in Set(all.map(\.account)) {
                let own = looked.filter { accounts[$0] == account }.map { counts[$0] ?? 0 }
                #expect(!own.isEmpty)
                #expect(own.reduce(0, +) <= SweepPlan.zonesPerAccount)
            }
        }
    }
}
