// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import TidemarkPostgres

/// A console: where its commands go, and the connection that they share (R-900).
package actor ConsoleSession {
    /// How a line ended.
    package struct Outcome: Sendable, Equatable {
        package let status: ExitStatus
        /// Whether the console ends.
        package var isOver = false
    }

    private let options: AdminOptions
    private let variables: [String: String]
    private let connection = KeptConnection()
    /// Its own, because a name may be asked for at another place while a command runs.
    private let namesConnection = KeptConnection()
    private nonisolated let lookup = NameLookup()
    private var context: String?
    private var container: String?
    private var environment: EnvironmentName?
    private var form: OutputFormat
    private var isTimed = false
    /// Whether a script ends at its first failure.
    package private(set) var endsAtFailure = true

    /// How long pressing Tab may wait for names. Longer would be felt while typing.
    private static let completionTime = Duration.milliseconds(300)

    /// - Parameters:
    ///   - options: with which the console was opened. They hold for each command that says nothing else.
    ///   - variables: of the environment.
    package init(_ options: AdminOptions, variables: [String: String]) {
        var variables = variables
        // As a variable, because each command that has it as an option would warn of its password.
        if let url = options.databaseURL { variables["TIDEMARK_DATABASE_URL"] = url }
        self.options = options
        self.variables = variables
        context = options.context
        container = options.container
        environment = options.environment
        form = options.output
    }

    /// What to say when it opens; nil: nothing.
    package nonisolated var warning: String? {
        guard let url = options.databaseURL, PostgresURL.hasPassword(url) else { return nil }
        return AdminTarget.passwordWarning
    }

    /// Names the context, the container and the environment.
    package var prompt: String {
        guard let target = try? target() else { return "(no context)> " }
        let place = target.context?.name ?? "database"
        return "\(place) \(target.container ?? "-") \(target.environment.name)".inOneLine + "> "
    }

    private func target() throws -> AdminTarget {
        let contexts = ContextFile(variables: variables)
        return try AdminTarget(AdminOptions.parse(place), variables: variables) { () throws(AdminFailure) in
            try contexts.read()
        }
    }

    /// Where the console is, as options.
    private var place: [String] {
        (context.map { ["--context", $0] } ?? []) + (container.map { ["--container", $0] } ?? [])
            + (environment.map { ["--environment", $0.rawValue] } ?? [])
    }

    package func close() async {
        await connection.close()
        await namesConnection.close()
    }

    /// Gives up the connection with the statement under way. The next command opens another one.
    package func abandon() async { await connection.abandon() }

    /// Completes the word at the end of `text`. Blocks the calling thread for a short while at most.
    package nonisolated func completion(of text: String) -> ConsoleCompletion {
        ConsoleCompleter.completion(of: text) { kind, expectation, prefix in
            lookup.names(kind, expectation, prefix: prefix, Self.completionTime) { [self] in
                try await names(kind, expectation, prefix: prefix)
            }
        }
    }

    private func names(
        _ kind: LiveName, _ expectation: CompletionExpectation, prefix: String
    ) async throws -> [String] {
        guard kind != .contexts else {
            return try ContextFile(variables: variables).read().contexts.map(\.name).filter { $0.hasPrefix(prefix) }
        }
        // What the line itself says comes last, and counts.
        let said = ["context", "container", "environment"].flatMap { name in
            expectation.options[name].map { ["--\(name)", $0] } ?? []
        }
        let contexts = ContextFile(variables: variables)
        let target = try AdminTarget(AdminOptions.parse(place + said), variables: variables) {
            () throws(AdminFailure) in try contexts.read()
        }
        if let server = try OperatorTarget(target, variables: variables) {
            return try await NameQuestion(kind, prefix: prefix, account: expectation.account).ask(server, target)
        }
        let kept = try await namesConnection.connection(to: try target.databaseURL())
        try kept.requireMigrations()
        let console = Console(
            kept.storage, loop: kept.loop, screen: Screen(output: .name, terminal: SilentTerminal()),
            container: target.container, environment: target.environment)
        return try await console.names(kind, prefix: prefix, account: expectation.account)
    }

    /// Carries out a line.
    package func perform(_ words: [String], on terminal: CommandTerminal) async -> Outcome {
        // It may go elsewhere, or change what there is.
        defer { lookup.forget() }
        do {
            return try await perform(try ConsoleOrder(words), on: terminal)
        } catch {
            let failure = AdminFailure(error)
            terminal.say("Error: \(failure)")
            return Outcome(status: failure.status)
        }
    }

    private func perform(_ order: ConsoleOrder, on terminal: CommandTerminal) async throws -> Outcome {
        switch order {
        case .nothing: break
        case .exit: return Outcome(status: .ok, isOver: true)
        case .help(let words):
            guard words.isEmpty else { return Outcome(status: try await run(words + ["--help"], terminal)) }
            try await terminal.write(ConsoleHelp.text)
        case .use(let container, let environment):
            self.container = container
            if let environment { self.environment = environment }
        case .context(let name):
            guard try ContextFile(variables: variables).read()[name] != nil else { throw AdminFailure.noContext(name) }
            (context, container, environment) = (name, nil, nil)
        case .timer(let isOn): isTimed = isOn
        case .output(let form): self.form = form
        case .bail(let isOn): endsAtFailure = isOn
        case .command(let words):
            let start = ContinuousClock.now
            let status = try await run(words, terminal)
            if isTimed { terminal.say("Time: \(Int((ContinuousClock.now - start) / .milliseconds(1))) ms") }
            return Outcome(status: status)
        }
        return Outcome(status: .ok)
    }

    private func run(_ words: [String], _ terminal: CommandTerminal) async throws -> ExitStatus {
        let parsed: any ParsableCommand
        switch AdminWords(words) {
        case .command(let command): parsed = command
        case .help(let text):
            try await terminal.write(text + "\n")
            return .ok
        case .mistake(let text):
            terminal.say(text)
            return .usage
        }
        let place = parsed as? any AdminCommand
        let words = completed(words, place?.options, hasPlace: place != nil)
        switch try Admin.parseAsRoot(words) {
        case let command as any AdminCommand:
            return await Self.carryOut { [variables, connection] in
                await AdminProgram.run(
                    command, arguments: words, terminal: terminal, variables: variables, over: connection)
            }
        case let command as any ContextCommand:
            return await Self.carryOut { [variables] in
                await AdminProgram.run(command, terminal: terminal, variables: variables)
            }
        case let command as any LocalCommand:
            return await Self.carryOut { await AdminProgram.run(command, terminal: terminal) }
        default:
            throw AdminFailure(.usage, "\(words.joined(separator: " ")) is no command. Type help.")
        }
    }

    /// Off the actor: a command may wait for an answer without giving way.
    @concurrent private static func carryOut(_ command: @Sendable () async -> ExitStatus) async -> ExitStatus {
        await command()
    }

    /// The words with what holds for the whole console, where they say nothing else.
    ///
    /// - Parameter hasPlace: whether the command goes to a database or a server.
    private func completed(_ words: [String], _ given: AdminOptions?, hasPlace: Bool) -> [String] {
        var more: [String] = []
        if hasPlace, given?.context == nil, given?.databaseURL == nil {
            if let context { more += ["--context", context] }
            if given?.container == nil, let container { more += ["--container", container] }
            if given?.environment == nil, let environment { more += ["--environment", environment.rawValue] }
        }
        let head = words.prefix { $0 != "--" }
        let hasForm = head.contains { $0 == "-o" || $0 == "--output" || $0.hasPrefix("--output=") }
        if !hasForm { more += ["--output", form.rawValue] }
        for (flag, isOn) in [("--yes", options.yes), ("--dry-run", options.dryRun), ("--debug", options.debug)]
        where isOn && !head.contains(flag) {
            more.append(flag)
        }
        return head + more + words.dropFirst(head.count)
    }
}

/// What `help` shows.
enum ConsoleHelp {
    static var text: String {
        let nouns = CommandTree.admin.nouns
        let width = nouns.map(\.name.count).max() ?? 0
        let rows = nouns.map { noun in
            "  \(noun.name)\(String(repeating: " ", count: width - noun.name.count))  \(noun.abstract)\n"
        }
        return own + "\nCommands (help NOUN, help NOUN VERB):\n" + rows.joined()
    }

    private static let own = """
        Of the console:
          use CONTAINER [development|production]   go to a container
          context NAME                             go to a context, for this console
          .output table|wide|json|yaml|name        the form of all output
          .timer on|off                            say how long each command took
          .bail on|off                             whether a script ends at its first failure
          exit                                     end (also Ctrl-D)

        Words are split as a shell does it. A backslash at the end, or an open quotation mark, goes on in the next line.
        Ctrl-C abandons a line, or the command that runs. Tab completes.

        """
}
