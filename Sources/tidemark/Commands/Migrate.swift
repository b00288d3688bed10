// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import TidemarkAdmin
internal import TidemarkSockets
internal import TidemarkStore
internal import TidemarkTelemetry

struct Migrate: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Bring a database's tables up to this version, or see what that would do.",
        discussion: "Without a verb it does as up. A database of a newer version is refused.",
        subcommands: [Up.self, Status.self, Plan.self], defaultSubcommand: Up.self)

    struct Up: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Apply the missing steps. Safe to run again, and while servers run.")

        @OptionGroup var settings: SettingsFileOption

        @OptionGroup var database: DatabaseOption

        func run() throws {
            let steps = try Migrate.with(settings, database) { try await $0.migrate() }
            for step in steps { print("applied \(step)") }
            print(steps.isEmpty ? "The database is up to date." : "The database is up to date now.")
        }
    }

    struct Status: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show whether and when each step was applied, and whether this version knows it so.",
            discussion: """
                applied: as this version knows it. pending: up would apply it. changed: the database has it in another form, \
                so it is no release's. newer: this version does not know it.
                """)

        @OptionGroup var settings: SettingsFileOption

        @OptionGroup var database: DatabaseOption

        @Flag(help: "End with status 1 unless each step is applied.")
        var ci = false

        func run() throws {
            let steps = try Migrate.with(settings, database) { try await $0.steps() }
            let width = steps.map(\.name.count).max() ?? 0
            for step in steps {
                let name = step.name.padded(to: width)
                print("\(name)  \(step.state.rawValue.padded(to: 7))  \(step.appliedAt ?? "-")")
            }
            let counts = MigrationStep.State.allCases.map { state in
                (state, steps.count { $0.state == state })
            }
            print(counts.filter { $0.1 > 0 }.map { "\($0.1) \($0.0.rawValue)" }.joined(separator: ", "))
            guard ci, steps.contains(where: { $0.state != .applied }) else { return }
            throw AdminFailure(.failedCheck, "The database does not have exactly the steps of this version.")
        }
    }

    struct Plan: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print the SQL that up would run, with what each step locks.",
            discussion: "The comment at the head of a step says what it locks, and for how long. Nothing is changed.")

        @OptionGroup var settings: SettingsFileOption

        @OptionGroup var database: DatabaseOption

        func run() throws {
            let steps = try Migrate.with(settings, database) { try await $0.plan() }
            for step in steps {
                print("-- \(step.name): waits for a table's lock for at most 5 seconds. Then it is rolled back.")
                print(step.script)
            }
            if steps.isEmpty { print("-- The database is up to date.") }
        }
    }

    private static func with<Value: Sendable>(
        _ settings: SettingsFileOption, _ database: DatabaseOption,
        _ body: @escaping @Sendable (Migrator) async throws -> Value
    ) throws -> Value {
        try settings.begin()
        let url = try database.value()
        Log.writeToStandardError(level: .warning, failureLevel: .error)
        ServingLoop.listenForSignals()
        return try blocking {
            let loop = try EventLoop(name: "migrate")
            defer { loop.stop() }
            return try await body(Migrator(url: url, loop: loop))
        }
    }
}

extension String {
    fileprivate func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
}
