// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Synchronization
internal import TidemarkBytes
internal import TidemarkDomain
internal import TidemarkScheduling
internal import TidemarkSockets
internal import TidemarkTransport
internal import TidemarkWebSocket
internal import TidemarkWire

/// A channel of an operator or of a user: a connection around an ``OperatorServerMachine``, and the command that it carries.
///
/// The command runs on a separate thread and calls from there; everything else is on the loop of the operators. Sendable, because both use
/// the state only on that loop.
final class OperatorConnection: MessageHandler, OperatorChannel, @unchecked Sendable {
    private let hall: OperatorHall
    private let door: OperatorHall.Door
    private let address: String
    private var machine = OperatorServerMachine()
    private var connection: MessageConnection?
    private var timer: ScheduledTimer?
    private var command: Task<Void, Never>?
    private(set) var sender: ChannelSender?
    /// The sender that holds a place for the command; nil: none.
    private var placeHolder: ChannelSender?
    /// How often it was found that the command waits for the client, since the client's last word, and since the command last
    /// went on.
    private var silentSteps = 0
    private(set) var waitingSteps = 0
    /// The command waits for room, or for an answer.
    private var writers: [CheckedContinuation<Bool, Never>] = []
    private var isCancelled = false
    private var asker: (@Sendable (OperatorServerMachine.Reply?) -> Void)?

    init(hall: OperatorHall, _ door: OperatorHall.Door, address: String) {
        self.hall = hall
        self.door = door
        self.address = address
    }

    private var loop: EventLoop { hall.loop }

    var signedInOperator: SignedInOperator? { if case .operator(let found)? = sender { found } else { nil } }
    var signedInAccount: SignedInAccount? { if case .user(let found)? = sender { found } else { nil } }

    // MARK: The connection

    func opened(_ connection: MessageConnection) {
        self.connection = connection
        guard hall.enter(self) else { return connection.close(.goingAway, reason: "the server stops") }
        timer = loop.schedule(after: hall.commandDeadline) { [weak self] in
            guard let self else { return }
            perform(machine.timedOut())
        }
    }

    func received(_ connection: MessageConnection, _ kind: MessageKind, _ payload: MessagePayload) {
        guard kind == .binary else { return connection.close(.unsupportedData, reason: "binary messages only") }
        silentSteps = 0
        perform(machine.received(try? WireOperatorClientMessage(reading: payload.bytes)))
    }

    func closed(_ connection: MessageConnection, _ reason: CloseReason) {
        self.connection = nil
        perform(machine.closed())
        timer?.cancel()
        if command == nil { hall.leave(self) }
    }

    // MARK: The hall

    /// The credential is not valid any more.
    func revoke() { perform(machine.revoked()) }

    /// Nobody can say whether it is.
    func uncheck() { perform(machine.unchecked()) }

    /// Another user needs the place, and this one lets the command wait.
    func giveWay() { perform(machine.wearied("others need the place")) }

    /// Whether its place comes free once its command has ended.
    var isGivingPlaceBack: Bool { machine.hasEnded && placeHolder != nil }

    /// The server stops.
    func stop() { perform(machine.stop()) }

    // MARK: Actions of the machine

    private func perform(_ actions: [OperatorServerMachine.Action]) {
        for action in actions { perform(action) }
        if !machine.waitsForClient { waitingSteps = 0 }
        if machine.hasRoom || machine.hasEnded { resumeWriters(isOpen: !machine.hasEnded) }
        if machine.hasEnded { take(nil) }
        givePlaceBack()
    }

    /// Called when the command has ended, and the operator has taken its output or is gone: until then the output takes
    /// memory.
    private func givePlaceBack() {
        guard command == nil, machine.hasEnded, let holder = placeHolder else { return }
        placeHolder = nil
        hall.giveBack(holder)
    }

    private func perform(_ action: OperatorServerMachine.Action) {
        switch action {
        case .signIn(let credential, let client): signIn(credential, client)
        case .start(let sender, let command): start(sender, command)
        case .send(let message): connection?.send(.binary, message.encoded)
        case .reply(let reply): take(reply)
        case .cancel: cancel()
        case .close(let code, let reason): connection?.close(CloseCode(rawValue: code), reason: reason)
        }
    }

    private func signIn(_ credential: [UInt8], _ client: String) {
        loop.run { [self] in
            switch await hall.signIn(credential, at: door, from: address, client: client) {
            case .known(let found):
                guard hall.admits(found), connection?.settle(owner: found.connectionOwner) == nil else {
                    connection?.close(.tryAgainLater, reason: "too many connections")
                    return
                }
                sender = found
                perform(machine.signedIn(found))
            case .nobody: perform(machine.signedIn(nil, because: door.refusal))
            case .failed: perform(machine.signInFailed())
            }
        }
    }

    private func start(_ sender: ChannelSender, _ command: WireOperatorCommand) {
        timer?.cancel()
        let request = OperatorRequest(
            sender: sender, address: address, arguments: command.arguments,
            container: command.container.isEmpty ? nil : command.container,
            environment: command.environment.isEmpty ? nil : command.environment, hasColor: command.hasColor,
            canAsk: command.canAsk, showsProgress: command.showsProgress, databaseURL: hall.databaseURL,
            limits: hall.limits, connections: hall.connections, longQueries: hall.longQueries(of: sender),
            assetDirectory: hall.assetDirectory)
        if let refusal = hall.take(sender) {
            perform(machine.say("Error: \(refusal)"))
            return perform(machine.end(OperatorHall.refusedStatus))
        }
        placeHolder = sender
        if case .user = sender { watch() }
        let commands = hall.commands
        // Not on a loop: it starts a thread, and waits for its end.
        self.command = Task.detached { [self] in
            let status = await commands.run(request, over: self)
            loop.execute { self.ended(status) }
        }
    }

    /// Ends the channel of a user who keeps a place and says nothing while the command waits for them.
    private func watch() {
        timer = loop.schedule(after: hall.patienceStep) { [weak self] in
            guard let self, !machine.hasEnded else { return }
            (silentSteps, waitingSteps) = machine.waitsForClient ? (silentSteps + 1, waitingSteps + 1) : (0, 0)
            if silentSteps >= hall.patienceStepsMax { perform(machine.wearied()) }
            if !machine.hasEnded { watch() }
        }
    }

    /// Lets go of a command that waits for the operator, so that it ends.
    private func cancel() {
        isCancelled = true
        command?.cancel()
        resumeWriters(isOpen: false)
        take(nil)
    }

    private func ended(_ status: Int32) {
        command = nil
        perform(machine.end(status))
        if connection == nil { hall.leave(self) }
    }

    /// Returns when the command has ended, if one runs.
    func waitForCommand() async { await command?.value }

    // MARK: OperatorChannel

    func write(_ text: String) async -> Bool {
        await withCheckedContinuation { (written: CheckedContinuation<Bool, Never>) in
            loop.execute { [self] in
                guard machine.isRunning, !isCancelled else { return written.resume(returning: false) }
                writers.append(written)
                perform(machine.write(Array(text.utf8)))
            }
        }
    }

    private func resumeWriters(isOpen: Bool) {
        let waiting = writers
        writers = []
        for writer in waiting { writer.resume(returning: isOpen) }
    }

    func say(_ text: String) {
        loop.execute { [self] in perform(machine.say(text)) }
    }

    func showProgress(_ text: String?) {
        loop.execute { [self] in
            // An operator that does not read gets no progress.
            guard let connection, connection.queuedByteCount < OperatorServerMachine.pieceBytesMax else { return }
            perform(machine.progress(text))
        }
    }

    func ask(_ question: String) async -> String? {
        let reply = await withCheckedContinuation {
            (answered: CheckedContinuation<OperatorServerMachine.Reply?, Never>) in
            ask(.question(question)) { answered.resume(returning: $0) }
        }
        guard case .answer(let answer)? = reply, !answer.isMissing else { return nil }
        return answer.text
    }

    func openFile(_ path: String) -> OperatorFileAnswer {
        guard case .opened(let opened)? = waitForReply(.openFile(path)) else { return .gone }
        guard opened.failure.isEmpty else { return .failed(opened.failure) }
        return .opened(name: opened.name, byteCount: opened.byteCount < 0 ? nil : Int(clamping: opened.byteCount))
    }

    func readFile(_ number: Int) -> OperatorPartAnswer {
        guard case .part(let part)? = waitForReply(.readFile(number)) else { return .gone }
        return part.failure.isEmpty ? .bytes(part.content) : .failed(part.failure)
    }

    /// Blocks the thread until the client answers, or is gone.
    private func waitForReply(_ ask: OperatorServerMachine.Ask) -> OperatorServerMachine.Reply? {
        precondition(!loop.isCurrent, "the loop cannot wait for itself")
        let answered = BlockingReply()
        self.ask(ask) { answered.give($0) }
        return answered.take()
    }

    /// Calls `then` once, on the loop: with nil if no answer will come.
    private func ask(
        _ ask: OperatorServerMachine.Ask, then: @escaping @Sendable (OperatorServerMachine.Reply?) -> Void
    ) {
        loop.execute { [self] in
            guard machine.isRunning, !isCancelled, asker == nil else { return then(nil) }
            asker = then
            perform(machine.ask(ask))
        }
    }

    private func take(_ reply: OperatorServerMachine.Reply?) {
        let asker = asker
        self.asker = nil
        asker?(reply)
    }
}

/// A reply for which a thread waits.
private final class BlockingReply: Sendable {
    private let reply = Mutex<OperatorServerMachine.Reply?>(nil)
    private let isThere = DispatchSemaphore(value: 0)

    func give(_ reply: OperatorServerMachine.Reply?) {
        self.reply.withLock { $0 = reply }
        isThere.signal()
    }

    func take() -> OperatorServerMachine.Reply? {
        isThere.wait()
        return reply.withLock { $0 }
    }
}

extension ChannelSender {
    /// The owner of a connection's memory. Operators and accounts have separate numbers.
    fileprivate var connectionOwner: UInt64 {
        switch self {
        case .operator(let found): UInt64(bitPattern: found.id.rawValue)
        case .user(let found): UInt64(bitPattern: found.account.rawValue) ^ 1 << 63
        }
    }
}
