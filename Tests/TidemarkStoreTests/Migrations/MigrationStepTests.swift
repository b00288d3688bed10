// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import TidemarkStore

/// Where each step of a database stands (R-942).
@Suite struct MigrationStepTests {
    private let known = (1...3).map {
        Migration(number: $0, name: "000\($0)_step", checksum: "c\($0)", sql: "SELECT 1")
    }

    private func states(_ applied: [(number: Int, checksum: String)]) -> [String] {
        let rows = applied.map {
            MigrationStep.Applied(number: $0.number, name: "000\($0.number)_theirs", checksum: $0.checksum, at: "then")
        }
        return MigrationStep.compare(rows, with: known).map { "\($0.name) \($0.state) \($0.appliedAt ?? "-")" }
    }

    @Test func `R-942: a step is applied, pending, changed, or newer than the program`() {
        #expect(states([]) == ["0001_step pending -", "0002_step pending -", "0003_step pending -"])
        #expect(
            states([(1, "c1"), (2, "c2"), (3, "c3")])
                == ["0001_theirs applied then", "0002_theirs applied then", "0003_theirs applied then"])
        #expect(
            states([(1, "c1"), (2, "other")])
                == ["0001_theirs applied then", "0002_theirs changed then", "0003_step pending -"])
        #expect(
            states([(4, "c4"), (3, "c3"), (1, "c1"), (2, "c2")])
                == [
                    "0001_theirs applied then", "0002_theirs applied then", "0003_theirs applied then",
                    "0004_theirs newer then",
                ])
        // A hole is told as one.
        #expect(
            states([(1, "c1"), (3, "c3")])
                == ["0001_theirs applied then", "0002_step pending -", "0003_theirs applied then"])
    }
}
