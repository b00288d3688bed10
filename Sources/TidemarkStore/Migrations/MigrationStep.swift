// SPDX-License-Identifier: Apache-2.0

/// A step of the schema, as a database and this program know it.
package struct MigrationStep: Sendable, Equatable {
    /// Where it stands.
    package enum State: String, Sendable, CaseIterable {
        /// The database has it, as this program knows it.
        case applied
        /// `migrate` would apply it.
        case pending
        /// The database has it in another form: it is of no release.
        case changed
        /// The database has it, and this program does not know it.
        case newer
    }

    package let name: String
    package let state: State
    /// When the database got it, in UTC; nil: never.
    package let appliedAt: String?

    /// A step that a database has.
    struct Applied: Sendable {
        let number: Int
        let name: String
        let checksum: String
        let at: String
    }

    /// All steps, of the database and of the program, in order.
    static func compare(_ applied: [Applied], with known: [Migration]) -> [MigrationStep] {
        let byNumber = Dictionary(applied.map { ($0.number, $0) }) { first, _ in first }
        let numbers = Set(byNumber.keys).union(known.map(\.number)).sorted()
        return numbers.compactMap { number in
            let own = known.first { $0.number == number }
            switch (own, byNumber[number]) {
            case (let own?, let theirs?):
                let state = own.checksum == theirs.checksum ? State.applied : .changed
                return MigrationStep(name: theirs.name, state: state, appliedAt: theirs.at)
            case (let own?, nil): return MigrationStep(name: own.name, state: .pending, appliedAt: nil)
            case (nil, let theirs?): return MigrationStep(name: theirs.name, state: .newer, appliedAt: theirs.at)
            case (nil, nil): return nil
            }
        }
    }
}

extension Migrator {
    /// All steps, of the database and of this program. Changes nothing.
    package func steps() async throws(MigrationError) -> [MigrationStep] {
        MigrationStep.compare(try await applied(), with: Migrations.all)
    }

    /// The SQL of each step that is missing, with what it locks in a comment, as ``migrate()`` would run it. Changes nothing.
    ///
    /// - Throws: as ``migrate()``: `newer`, `different`, `tooOld`.
    package func plan() async throws(MigrationError) -> [(name: String, script: String)] {
        try await checkVersion()
        let hasSteps = try await hasSteps()
        let count = hasSteps ? try await appliedCount() : 0
        return Migrations.all.dropFirst(count).map { step in
            (step.name, (hasSteps || step.number > 1 ? "" : "\(Self.create);\n") + script(of: step))
        }
    }
}
