// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import TidemarkSockets
internal import TidemarkStore
internal import TidemarkTelemetry

struct Migrate: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Bring a database's tables up to this version. Safe to run again, and while servers run.")

    @OptionGroup var database: DatabaseOption

    func run() throws {
        let url = try database.value()
        Log.writeToStandardError(level: .warning)
        ServingLoop.listenForSignals()
        let steps = try blocking {
            let loop = try EventLoop(name: "migrate")
            defer { loop.stop() }
            return try await Migrator(url: url, loop: loop).migrate()
        }
        for step in steps { print("applied \(step)") }
        print(steps.isEmpty ? "The database is up to date." : "The database is up to date now.")
    }
}
