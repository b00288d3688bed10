// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Synchronization
internal import TidemarkDomain
internal import TidemarkScheduling
package import TidemarkServer
internal import TidemarkSockets
internal import TidemarkStore
internal import TidemarkTelemetry

/// Carries out the commands of operators who are connected to a server, and those of records of users: each on
/// a thread and connections of its own.
package struct ServedCommands: OperatorCommands {
    private static let log = Log("operators")

    package init() {}

    package func run(_ request: OperatorRequest, over channel: any OperatorChannel) async -> Int32 {
        let status: ExitStatus
        switch Self.order(request) {
        case .admin(let command): status = await run(command, request, over: channel)
        case .cktool(let command): status = await run(command, request, over: channel)
        case .names(let question):
            status = await onThread(request, channel) { loop in
                await Self.perform(question, request, ChannelTerminal(request, channel), loop)
            }
        case .help(let text):
            _ = await channel.write(text + "\n")
            status = .ok
        case .refused(let failure, let text):
            channel.say(text)
            status = failure
        }
        return status.rawValue
    }

    // MARK: Parsing

    private enum Order {
        case admin(any AdminCommand)
        case cktool(ServedCKTool)
        case names(NameQuestion)
        case help(String)
        case refused(ExitStatus, String)
    }

    private enum Unparsed: Error {
        case help(String)
        case usage(String)
    }

    private static func order(_ request: OperatorRequest) -> Order {
        if request.arguments.first == CKTool.programName {
            switch ServedCKTool.parse(request.arguments) {
            case .command(let command): return .cktool(command)
            case .help(let text): return .help(text)
            case .mistake(let text): return .refused(.usage, text)
            }
        }
        // Before anything of the words is looked at: they may not see even the help of an operator's command.
        guard case .operator = request.sender else {
            return .refused(
                .notAllowed, "Error: A user token opens the commands of records of tidemark cktool, and nothing else.")
        }
        if request.arguments.first == NameQuestion.word {
            guard let question = NameQuestion(words: request.arguments) else {
                return .refused(.usage, "Error: This server has no names of that kind.")
            }
            return .names(question)
        }
        switch parse(request.arguments) {
        case .success(let command): return .admin(command)
        case .failure(.help(let text)): return .help(text)
        case .failure(.usage(let text)): return .refused(.usage, text)
        }
    }

    private static func parse(_ arguments: [String]) -> Result<any AdminCommand, Unparsed> {
        // It names a database, and would have the rights and the contexts of this process. See NameQuestion.
        guard arguments.first != CompletionProgram.mark else {
            return .failure(.usage("Error: A server completes no words of a shell."))
        }
        let parsed: any ParsableCommand
        switch AdminWords(arguments) {
        case .command(let command): parsed = command
        case .help(let text): return .failure(.help(text))
        case .mistake(let text): return .failure(.usage(text))
        }
        guard let command = parsed as? any AdminCommand else {
            return .failure(
                .usage("Error: This command works on the operator's own machine. A server does not run it."))
        }
        guard command.options.databaseURL == nil, command.options.context == nil else {
            return .failure(
                .usage(
                    "Error: A server runs commands on its own database only: leave out --database-url and --context."))
        }
        return .success(command)
    }

    // MARK: Running

    private func run(
        _ command: any AdminCommand, _ request: OperatorRequest, over channel: any OperatorChannel
    ) async -> ExitStatus {
        let screen = Screen(command.options, ChannelTerminal(request, channel))
        let status = await onThread(request, channel) { loop in await Self.perform(command, request, screen, loop) }
        Self.note(Auditor.name(of: type(of: command)), request, status)
        return status
    }

    private func run(
        _ command: ServedCKTool, _ request: OperatorRequest, over channel: any OperatorChannel
    ) async -> ExitStatus {
        let status = await onThread(request, channel) { loop in
            await Self.perform(command, request, ChannelTerminal(request, channel), loop)
        }
        Self.note("cktool \(type(of: command.command)._commandName)", request, status)
        return status
    }

    private static func note(_ action: String, _ request: OperatorRequest, _ status: ExitStatus) {
        let sender =
            switch request.sender {
            case .operator(let sender): sender.name
            case .user(let sender): "account \(sender.account.rawValue)"
            }
        log.debug(
            "a command of an operator ended",
            [
                "request": "\(request.uuid)", "operator": sender, "action": action, "status": "\(status.rawValue)",
            ])
    }

    private func onThread(
        _ request: OperatorRequest, _ channel: any OperatorChannel,
        _ body: @escaping @Sendable (EventLoop) async -> ExitStatus
    ) async -> ExitStatus {
        let loop: EventLoop
        do {
            loop = try EventLoop(name: "operator")
        } catch {
            channel.say("Error: The server has no thread left for the command. Try again later.")
            return .refused
        }
        defer { loop.stop() }
        let trace = RequestTrace(request.uuid)
        let work = loop.run { await RequestTrace.$current.withValue(trace) { await body(loop) } }
        let status = await withTaskCancellationHandler {
            await work.value
        } onCancel: {
            work.cancel()
        }
        return status
    }

    private static func perform(
        _ command: any AdminCommand, _ request: OperatorRequest, _ screen: Screen, _ loop: EventLoop
    ) async -> ExitStatus {
        await AdminProgram.ending(screen) {
            guard case .operator(let sender) = request.sender else {
                throw AdminFailure(.notAllowed, "Only operators give this command.")
            }
            let environment = try environment(command.options.environment, request)
            try await withStorage(request, loop, .served, mayChange: type(of: command).role > .viewer) { storage in
                let console = Console(
                    storage, loop: loop, screen: screen, container: command.options.container ?? request.container,
                    environment: environment,
                    operatorIdentity: OperatorIdentity(name: sender.name, address: request.address),
                    command: request.uuid, serverLimits: request.limits,
                    serverConnections: request.connections, role: sender.role)
                try await carryOut(command, sender, console)
            }
        }
    }

    /// Tells names of the server's own database. Each operator may see them, as lists show them too.
    private static func perform(
        _ question: NameQuestion, _ request: OperatorRequest, _ terminal: ChannelTerminal, _ loop: EventLoop
    ) async -> ExitStatus {
        let screen = Screen(output: .name, terminal: terminal)
        return await AdminProgram.ending(screen) {
            guard case .operator(let sender) = request.sender else {
                throw AdminFailure(.notAllowed, "Only operators are told names.")
            }
            let environment = try environment(nil, request)
            try await withStorage(request, loop, .served, mayChange: false) { storage in
                let console = Console(
                    storage, loop: loop, screen: screen, container: request.container, environment: environment,
                    operatorIdentity: OperatorIdentity(name: sender.name, address: request.address),
                    command: request.uuid, role: sender.role)
                let names = try await console.names(
                    question.kind, prefix: question.prefix, account: question.account)
                try await screen.write(NameQuestion.text(of: names))
            }
        }
    }

    private static func perform(
        _ command: ServedCKTool, _ request: OperatorRequest, _ terminal: ChannelTerminal, _ loop: EventLoop
    ) async -> ExitStatus {
        let times: QueryTimes =
            switch request.sender {
            case .operator: .served
            case .user: QueryTimes(within: request.limits)
            }
        return await CKToolProgram(terminal: terminal, variables: [:]).ending {
            try await withStorage(request, loop, times, mayChange: command.right.mayChange) { storage in
                let seat = CKToolSeat(storage: storage, loop: loop, request: request, timeZone: command.timeZone)
                try await command.run(CKToolProgram(terminal: terminal, variables: [:], seat: seat))
            }
            return .ok
        }
    }

    /// Opens a store for as long as `body` runs. Cancelled, it closes it at once.
    ///
    /// - Parameter mayChange: whether nobody knows what became of it then.
    private static func withStorage(
        _ request: OperatorRequest, _ loop: EventLoop, _ times: QueryTimes, mayChange: Bool,
        _ body: (PostgresStorage) async throws -> Void
    ) async throws {
        let storage = try PostgresStorage(
            url: request.databaseURL, loop: loop, connections: 1, readConnections: 1, queryTimes: times,
            longQueries: request.longQueries)
        let end = StorageEnd(storage)
        let result: Result<Void, any Error>
        do {
            // What waits for the database hears of the end in this way.
            try await withTaskCancellationHandler {
                try await body(storage)
            } onCancel: {
                _ = end.begin(cancels: true)
            }
            result = .success(())
        } catch {
            result = .failure(Task.isCancelled ? cancelled(mayChange: mayChange) : error)
        }
        await end.begin().value
        try result.get()
    }

    private static func carryOut(
        _ command: any AdminCommand, _ sender: SignedInOperator, _ console: Console
    ) async throws {
        if let text = sender.refusal(needing: type(of: command).role) {
            let failure = AdminFailure(.notAllowed, text)
            try await Auditor.refuse(command, on: console, failure)
            throw failure
        }
        // With --debug the operator's program shows the request: SQL is of no use to somebody without a right in PostgreSQL.
        try await Auditor.run(command, on: console)
    }

    private static func cancelled(mayChange: Bool) -> AdminFailure {
        AdminFailure(
            .refused, "The command was cancelled." + (mayChange ? " \(OperatorClientMachine.unknownEnd)" : ""))
    }

    private static func environment(
        _ option: EnvironmentName?, _ request: OperatorRequest
    ) throws(AdminFailure) -> ContainerEnvironment {
        if let option { return option.value }
        guard let text = request.environment else { return .development }
        guard let name = EnvironmentName(rawValue: text) else {
            throw AdminFailure(.usage, "The environment must be development or production, not \(text).")
        }
        return name.value
    }
}

/// Stops a store once, whoever asks first: the command that has ended, or whoever cancels it.
private final class StorageEnd: Sendable {
    private let storage: PostgresStorage
    private let stopping = Mutex<Task<Void, Never>?>(nil)

    init(_ storage: PostgresStorage) { self.storage = storage }

    /// - Parameter cancels: whether PostgreSQL ends the statement under way, which nobody waits for.
    func begin(cancels: Bool = false) -> Task<Void, Never> {
        stopping.withLock { stopping in
            if let stopping { return stopping }
            let new = Task.detached { [storage] in await storage.stop(cancels: cancels) }
            stopping = new
            return new
        }
    }
}
