// SPDX-License-Identifier: Apache-2.0

internal import TidemarkPostgres
internal import TidemarkService
internal import TidemarkSockets
internal import TidemarkStore

/// Runs commands, and says how they end.
package enum AdminProgram {
    /// Runs a command on an open console. It says why the command failed.
    package static func perform(_ command: any AdminCommand, on console: Console) async -> ExitStatus {
        await ending(console.screen) { try await Auditor.run(command, on: console) }
    }

    /// Runs a command in this process, on the database that its options, the variables or a context name.
    ///
    /// - Parameter variables: of the environment.
    package static func run(
        _ command: any AdminCommand, terminal: any OperatorTerminal, variables: [String: String]
    ) async -> ExitStatus {
        let screen = Screen(command.options, terminal)
        if let url = command.options.databaseURL, PostgresURL.hasPassword(url) {
            screen.say(AdminTarget.passwordWarning)
        }
        return await ending(screen) {
            let contexts = ContextFile(variables: variables)
            let target = try AdminTarget(command.options, variables: variables) { () throws(AdminFailure) in
                try contexts.read()
            }
            try await withConsole(
                target, screen, as: .ofProcess(variables: variables),
                needsMigrations: type(of: command).needsMigrations
            ) {
                try await Auditor.run(command, on: $0)
            }
        }
    }

    /// Runs a command that needs no store.
    package static func run(_ command: any LocalCommand, terminal: any OperatorTerminal) async -> ExitStatus {
        let screen = Screen(command.options, terminal)
        return await ending(screen) { try await command.run(screen) }
    }

    /// Runs a command of the contexts.
    package static func run(
        _ command: any ContextCommand, terminal: any OperatorTerminal, variables: [String: String]
    ) async -> ExitStatus {
        let screen = Screen(command.options, terminal)
        return await ending(screen) { try await command.run(screen, ContextFile(variables: variables)) }
    }

    /// Opens the store for as long as `body` runs, after checking that the database belongs to Tidemark.
    ///
    /// - Parameter needsMigrations: whether it must have this version's tables.
    package static func withConsole(
        _ target: AdminTarget, _ screen: Screen, as identity: OperatorIdentity = OperatorIdentity(name: ""),
        needsMigrations: Bool = true, _ body: (Console) async throws -> Void
    ) async throws {
        let url = try target.databaseURL()
        do {
            guard screen.isDebugging else {
                return try await open(url, target, screen, identity, needsMigrations, body)
            }
            try await StatementTrace.with({ screen.say($0) }) {
                try await open(url, target, screen, identity, needsMigrations, body)
            }
        } catch {
            let failure = AdminFailure(error)
            guard failure.status == .unreachable, let advice = target.advice else { throw error }
            throw AdminFailure(.unreachable, "\(advice)\n(\(failure))")
        }
    }

    private static func open(
        _ url: String, _ target: AdminTarget, _ screen: Screen, _ identity: OperatorIdentity,
        _ needsMigrations: Bool, _ body: (Console) async throws -> Void
    ) async throws {
        let loop = try EventLoop(name: "admin")
        defer { loop.stop() }
        let isMigrated = try await Migrator(url: url, loop: loop).isCurrent()
        guard isMigrated || !needsMigrations else {
            throw AdminFailure(
                .refused,
                "The database does not have this version's tables: run `tidemark migrate` with the same database URL "
                    + "first.")
        }
        let storage = try PostgresStorage(url: url, loop: loop, connections: 1, queryTimes: .patient)
        let console = Console(
            storage, loop: loop, screen: screen, container: target.container, environment: target.environment,
            operatorIdentity: identity, isMigrated: isMigrated)
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
            screen.say("Error: \(failure)")
            return failure.status
        }
        return .ok
    }
}

extension Screen {
    fileprivate convenience init(_ options: AdminOptions, _ terminal: any OperatorTerminal) {
        self.init(
            output: options.output, isDryRun: options.dryRun, isConfirmed: options.yes, isDebugging: options.debug,
            terminal: terminal)
    }
}
