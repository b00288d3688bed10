// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import TidemarkBytes
internal import TidemarkScheduling
internal import TidemarkServer
internal import TidemarkSockets
internal import TidemarkTransport
internal import TidemarkWebSocket
internal import TidemarkWire

/// Sends a command to a server, and is its terminal until it has ended. The connection is on a loop of its own, so that it
/// stays alive while the terminal takes nothing. Sendable because only that loop touches the state.
final class CommandSender: MessageHandler, @unchecked Sendable {
    private let target: OperatorTarget
    private let loop: EventLoop
    private var machine: OperatorClientMachine
    private var connection: MessageConnection?
    private var timer: ScheduledTimer?
    /// What the terminal has to do, in order.
    private let work: AsyncStream<OperatorClientMachine.Action>
    private let give: AsyncStream<OperatorClientMachine.Action>.Continuation
    private let asked = Mutex((question: Task<String?, Never>?.none, isCancelled: false))

    /// Bytes of a file in one message.
    private static let partBytesMax = 65_536

    private init(_ command: SentCommand, _ target: OperatorTarget, _ loop: EventLoop) {
        self.target = target
        self.loop = loop
        machine = OperatorClientMachine(
            command, credential: target.credential, client: "tidemark/\(Server.version)", server: target.url.text)
        (work, give) = AsyncStream.makeStream()
    }

    /// Runs the command to its end. Cancelled, it asks the server to end it.
    ///
    /// - Parameter deadline: how long the server may take, with the connection to it; nil: as long as it wants. For what
    ///   changes nothing.
    /// - Throws: ``AdminFailure``, or ``CommandEnd`` if whoever read the output wants no more.
    static func run(
        _ command: SentCommand, on target: OperatorTarget, _ terminal: any OperatorTerminal, deadline: Duration? = nil
    ) async throws -> ExitStatus {
        guard !command.arguments.isEmpty else {
            throw AdminFailure(.fault, "The words of the command are missing. This is a mistake of Tidemark.")
        }
        guard command.isSendable else {
            throw AdminFailure(
                .usage, "A server takes at most 512 words and 65536 bytes of a command. Divide it, or name a file.")
        }
        let loop = try EventLoop(name: "operator")
        defer { loop.stop() }
        let client = CommandSender(command, target, loop)
        loop.execute {
            client.connection = TransportClient.connect(
                on: loop, to: target.transport, limits: Self.limits, handler: client)
            guard let deadline else { return }
            client.timer = loop.schedule(after: deadline) { client.perform(client.machine.timedOut()) }
        }
        // A task of its own: a stream ends for a task that is cancelled, and the server has the last word.
        let running = Task { try await client.serve(terminal) }
        let result = await withTaskCancellationHandler {
            await running.result
        } onCancel: {
            client.takeBack()
            loop.execute { client.perform(client.machine.cancelled()) }
        }
        await loop.run {
            client.timer?.cancel()
            client.connection?.close(.normal)
        }.value
        return try result.get()
    }

    private static var limits: TransportLimits {
        var limits = TransportLimits()
        limits.message.messageBytesMax = 131_072
        limits.message.frameBytesMax = 131_072
        return limits
    }

    // MARK: The terminal

    /// Does what the server asks for, off the loop, until the command has ended.
    private func serve(_ terminal: any OperatorTerminal) async throws -> ExitStatus {
        var files: [LocalFile] = []
        for await action in work {
            switch action {
            case .write(let text):
                try await terminal.write(text)
                tell { $0.wrote(text.utf8.count) }
            case .say(let text):
                terminal.say(text)
                tell { $0.wrote(text.utf8.count) }
            case .progress(let text): terminal.showProgress(text)
            case .ask(let question):
                let answer = await ask(question, terminal)
                tell { $0.answered(answer) }
            case .open(let path): open(path, &files, terminal)
            case .read(let number): read(files[number])
            case .end(let status): return status
            case .fail(let failure): throw failure
            case .send: continue
            }
        }
        throw AdminFailure(.fault, "The channel to the server ended without a word.")
    }

    /// A command that is cancelled takes its question back, so that nobody reads the operator's next line.
    private func ask(_ question: String, _ terminal: any OperatorTerminal) async -> String? {
        let task = Task { await terminal.ask(question) }
        let isCancelled = asked.withLock { asked in
            asked.question = task
            return asked.isCancelled
        }
        if isCancelled { task.cancel() }
        return await task.value
    }

    private func takeBack() {
        asked.withLock { asked in
            asked.isCancelled = true
            return asked.question
        }?.cancel()
    }

    private func open(_ path: String, _ files: inout [LocalFile], _ terminal: any OperatorTerminal) {
        do throws(AdminFailure) {
            guard terminal.mayRead(path) else { throw AdminFailure.inputOfConsole }
            // The task that serves the terminal is not cancelled: the server has the last word.
            let file = try LocalFile(path: path, partBytesMax: Self.partBytesMax) { [weak self] in
                self?.asked.withLock { $0.isCancelled } ?? true
            }
            files.append(file)
            let (name, byteCount) = (file.name, file.byteCount)
            tell { $0.opened(name: name, byteCount: byteCount) }
        } catch {
            tell { $0.failed(error.description) }
        }
    }

    private func read(_ file: LocalFile) {
        do throws(AdminFailure) {
            let bytes = try file.read()
            tell { $0.read(bytes) }
        } catch {
            tell { $0.failed(error.description) }
        }
    }

    private func tell(
        _ what: @escaping @Sendable (inout OperatorClientMachine) -> [OperatorClientMachine.Action]
    ) {
        loop.execute { [self] in perform(what(&machine)) }
    }

    // MARK: The connection

    func opened(_ connection: MessageConnection) { perform(machine.opened()) }

    func received(_ connection: MessageConnection, _ kind: MessageKind, _ payload: MessagePayload) {
        guard kind == .binary else { return connection.close(.unsupportedData, reason: "binary messages only") }
        perform(machine.received(try? WireOperatorServerMessage(reading: payload.bytes)))
    }

    func closed(_ connection: MessageConnection, _ reason: CloseReason) {
        self.connection = nil
        switch reason {
        case .peer(let code, let text):
            perform(machine.closed(code: code?.rawValue, reason: text, fault: "The server ended the connection."))
        case .local:
            perform(machine.closed(code: nil, reason: "", fault: "The connection was closed."))
        case .failed(let error):
            perform(machine.closed(code: nil, reason: "", fault: target.url.fault(error)))
        }
        give.finish()
    }

    private func perform(_ actions: [OperatorClientMachine.Action]) {
        for action in actions {
            if case .send(let message) = action {
                connection?.send(.binary, message.encoded)
            } else {
                give.yield(action)
            }
        }
    }
}
