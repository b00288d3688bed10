// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
internal import TidemarkService
internal import TidemarkSockets
internal import TidemarkStore

/// Runs commands, and says how they end.
package enum AdminProgram {
    /// Runs a command on an open console. It says why the command failed.
    package static func perform(_ command: any AdminCommand, on console: Console) async -> ExitStatus {
        await ending(console.screen) { try await command.run(console) }
    }

    /// Runs a command in this process, on the database that its options, the variables or a context name.
    ///
    /// - Parameter variables: of the environment.
    package static func run(
        _ command: any AdminCommand, terminal: any OperatorTerminal, variables: [String: String]
    ) async -> ExitStatus {
        let screen = Screen(command.options, terminal)
        return await ending(screen) {
            let target = try AdminTarget(command.options, variables: variables)
            try await withConsole(target, screen) { try await command.run($0) }
        }
    }

    /// Runs a command that needs no store.
    package static func run(_ command: any LocalCommand, terminal: any OperatorTerminal) async -> ExitStatus {
        let screen = Screen(command.options, terminal)
        return await ending(screen) { try await command.run(screen) }
    }

    /// Opens the store for as long as `body` runs, after checking that the database belongs to Tidemark.
    package static func withConsole(
        _ target: AdminTarget, _ screen: Screen, _ body: (Console) async throws -> Void
    ) async throws {
        let loop = try EventLoop(name: "admin")
        defer { loop.stop() }
        guard try await Migrator(url: target.databaseURL, loop: loop).isCurrent() else {
            throw AdminFailure(
                .refused,
                "The database does not have this version's tables: run `tidemark migrate` with the same database URL "
                    + "first.")
        }
        let storage = try PostgresStorage(url: target.databaseURL, loop: loop, connections: 1, queryTimes: .patient)
        let console = Console(
            storage, loop: loop, screen: screen, container: target.container, environment: target.environment)
        let result: Result<Void, any Error>
        do {
            result = .success(try await body(console))
        } catch {
            result = .failure(error)
        }
        await storage.stop()
        try result.get()
    }

    private static func ending(_ screen: Screen, _ body: () async throws -> Void) async -> ExitStatus {
        do {
            try await body()
        } catch is CommandEnd {
            return .ok
        } catch {
            let failure = AdminFailure(error)
            if !failure.description.isEmpty { screen.say("Error: \(failure)") }
            return failure.status
        }
        return .ok
    }
}

extension Screen {
    fileprivate convenience init(_ options: AdminOptions, _ terminal: any OperatorTerminal) {
        self.init(
            output: options.output, isDryRun: options.dryRun, isConfirmed: options.yes, terminal: terminal)
    }
}
