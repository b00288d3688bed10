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

    /// Runs a command where its options, the variables or a context say: in this process, on a database, or over a server.
    ///
    /// - Parameters:
    ///   - arguments: as they were typed after `tidemark admin`. A server gets these.
    ///   - variables: of the environment.
    ///   - kept: a connection to a database that outlives the command; nil: it has its own.
    package static func run(
        _ command: any AdminCommand, arguments: [String] = [], terminal: any OperatorTerminal,
        variables: [String: String], over kept: KeptConnection? = nil
    ) async -> ExitStatus {
        let screen = Screen(command.options, terminal)
        if let url = command.options.databaseURL, PostgresURL.hasPassword(url) {
            screen.say(AdminTarget.passwordWarning)
        }
        var status = ExitStatus.ok
        let ending = await ending(screen) {
            let contexts = ContextFile(variables: variables)
            let target = try AdminTarget(command.options, variables: variables) { () throws(AdminFailure) in
                try contexts.read()
            }
            if let server = try OperatorTarget(target, variables: variables) {
                let sent = SentCommand(command, arguments: arguments, target, terminal)
                if screen.isDebugging { screen.say(sent.text(to: server.url.text, target)) }
                status = try await CommandSender.run(sent, on: server, terminal)
                return
            }
            try await withConsole(
                target, screen, as: .ofProcess(variables: variables),
                needsMigrations: type(of: command).needsMigrations, over: kept
            ) {
                try await Auditor.run(command, on: $0)
            }
        }
        return ending == .ok ? status : ending
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
    /// - Parameters:
    ///   - needsMigrations: whether it must have this version's tables.
    ///   - kept: a connection that outlives the call; nil: it has its own.
    package static func withConsole(
        _ target: AdminTarget, _ screen: Screen, as identity: OperatorIdentity = OperatorIdentity(name: ""),
        needsMigrations: Bool = true, over kept: KeptConnection? = nil, _ body: (Console) async throws -> Void
    ) async throws {
        let url = try target.databaseURL()
        func use(_ connection: AdminConnection) async throws {
            if needsMigrations { try connection.requireMigrations() }
            try await body(console(connection, target, screen, identity))
        }
        func opening() async throws {
            guard let kept else { return try await withConnection(to: url) { try await use($0) } }
            try await use(try await kept.connection(to: url))
        }
        do {
            guard screen.isDebugging else { return try await opening() }
            try await StatementTrace.with({ screen.say($0) }) { try await opening() }
        } catch {
            let failure = AdminFailure(error)
            guard failure.status == .unreachable, let advice = target.advice else { throw error }
            throw AdminFailure(.unreachable, "\(advice)\n(\(failure))")
        }
    }

    private static func withConnection(
        to url: String, _ body: (AdminConnection) async throws -> Void
    ) async throws {
        let connection = try await AdminConnection(url: url)
        let result: Result<Void, any Error>
        do {
            result = .success(try await body(connection))
        } catch {
            result = .failure(error)
        }
        await connection.close()
        try result.get()
    }

    private static func console(
        _ connection: AdminConnection, _ target: AdminTarget, _ screen: Screen, _ identity: OperatorIdentity
    ) -> Console {
        Console(
            connection.storage, loop: connection.loop, screen: screen, container: target.container,
            environment: target.environment, operatorIdentity: identity, isMigrated: connection.isMigrated)
    }

    static func ending(_ screen: Screen, _ body: () async throws -> Void) async -> ExitStatus {
        do {
            try await body()
            screen.sayIfEmpty()
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
    convenience init(_ options: AdminOptions, _ terminal: any OperatorTerminal) {
        self.init(
            output: options.output, isDryRun: options.dryRun, isConfirmed: options.yes, isDebugging: options.debug,
            terminal: terminal)
    }
}
