// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain

/// Which databases a sweep looks at, and in which steps. All zones of a database are read for its mark, so steps are
/// bounded by zones, and so is what one sweep reads for an account. A pure value.
struct SweepPlan {
    /// A database that wants to be looked at.
    struct Candidate {
        let database: DatabaseID
        let account: AccountID
        /// About how many zones it has. Nil: as many as a step may read.
        let zoneCount: Int?
        /// The sweep that last looked at it.
        let lastSweep: Int
    }

    /// The most databases of a step.
    static let databasesPerStep = 50
    /// The most zones of a step, unless one database has more. It has at most about as many, with those that have ended
    /// (`Limits`). PostgreSQL reads them in some 10 ms, so nobody else's read waits long behind them.
    static let zonesPerStep = 30_000
    /// The most zones that a sweep reads for one account. The other databases of the account are first in the next one.
    static let zonesPerAccount = 120_000

    /// Each is one read.
    let steps: [[DatabaseID]]

    init(_ candidates: [Candidate]) {
        var steps: [[DatabaseID]] = []
        var zonesOfStep = 0
        var zonesOfAccount: [AccountID: Int] = [:]
        let order = candidates.sorted { ($0.lastSweep, $0.database) < ($1.lastSweep, $1.database) }
        for candidate in order {
            let zoneCount = candidate.zoneCount ?? Self.zonesPerStep
            let sum = zonesOfAccount[candidate.account, default: 0]
            guard sum == 0 || sum + zoneCount <= Self.zonesPerAccount else { continue }
            zonesOfAccount[candidate.account] = sum + zoneCount
            if let last = steps.last, last.count < Self.databasesPerStep, zonesOfStep + zoneCount <= Self.zonesPerStep {
                steps[steps.count - 1].append(candidate.database)
                zonesOfStep += zoneCount
            } else {
                steps.append([candidate.database])
                zonesOfStep = zoneCount
            }
        }
        self.steps = steps
    }
}
