// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkWire

/// The server's side of an operator's channel. No clock, no socket: messages and what the command does in, actions out.
///
/// Output waits here until the client gives credit for it, in the order in which it was made; questions wait in the same
/// order. The command makes no more while something waits (``hasRoom``), so this holds one piece of work of it at most.
struct OperatorServerMachine {
    /// Close codes, as Operators.proto says.
    enum Code {
        static let done: UInt16 = 1000
        static let goingAway: UInt16 = 1001
        static let tryAgainLater: UInt16 = 1013
        static let misuse: UInt16 = 4400
        static let notAuthenticated: UInt16 = 4401
        static let revoked: UInt16 = 4403
        static let tooSlow: UInt16 = 4408
    }

    /// The questions to the client.
    enum Ask: Equatable, Sendable {
        case question(String)
        case openFile(String)
        case readFile(Int)
    }

    /// The client's answers.
    enum Reply: Equatable, Sendable {
        case answer(WireOperatorAnswer)
        case opened(WireOperatorFileOpened)
        case part(WireOperatorFilePart)
    }

    enum Action: Equatable {
        case signIn(credential: [UInt8], client: String)
        case start(ChannelSender, WireOperatorCommand)
        case send(WireOperatorServerMessage)
        case reply(Reply)
        /// The command must end. ``end(_:)`` reports its end.
        case cancel
        case close(UInt16, reason: String)
    }

    private enum Phase: Equatable {
        case awaitsHello
        /// The store is asked whose the credential is.
        case signsIn
        case awaitsCommand(ChannelSender)
        case runs
        case ended
    }

    private enum Waiting {
        /// NB: a slice. The rest of long data is not copied for each piece.
        case data(ArraySlice<UInt8>)
        case message([UInt8])
        case ask(Ask)
    }

    static let pieceBytesMax = 65_536
    /// A longer message is cut.
    static let messageBytesMax = 16_384
    /// Messages that may wait. Further ones are left out.
    static let messagesMax = 1_000
    /// A client that gives more credit has no more than this.
    static let creditMax = 1_048_576
    /// So many messages a client may send more than were sent to it. It has one answer for each of these at most.
    static let idleMessagesMax = 256

    private var phase = Phase.awaitsHello
    /// The command, if it came before the store had answered.
    private var early: WireOperatorCommand?
    private var credit = 0
    private var waiting: [Waiting] = []
    private var waitingMessages = 0
    private var leftOut = 0
    /// Messages of the client, less those that were sent to it.
    private var idleMessages = 0
    private var asked: Ask?
    private var status: Int32?

    /// Whether the command may make more output.
    var hasRoom: Bool { waiting.isEmpty }
    var isRunning: Bool { phase == .runs }
    /// Whether the command, or the rest of its output, waits for the client.
    var waitsForClient: Bool { isRunning && (!waiting.isEmpty || asked != nil) }
    var hasEnded: Bool { phase == .ended }

    // MARK: From the client

    /// - Parameter message: nil: it cannot be read.
    mutating func received(_ message: WireOperatorClientMessage?) -> [Action] {
        guard let message else { return misuse("a message cannot be read") }
        idleMessages += 1
        // One costs little, but very many of them would keep the loop from other channels.
        guard idleMessages <= Self.idleMessagesMax else { return misuse("too many messages") }
        switch phase {
        case .ended: return []
        case .awaitsHello:
            guard case .hello(let hello)? = message.message else { return misuse("the first message is no hello") }
            phase = .signsIn
            return [.signIn(credential: hello.credential, client: hello.client)]
        case .signsIn, .awaitsCommand: return receivedEarly(message)
        case .runs: return receivedWhileRunning(message)
        }
    }

    private mutating func receivedEarly(_ message: WireOperatorClientMessage) -> [Action] {
        switch message.message {
        case .command(let command)? where early == nil:
            early = command
            return startIfReady()
        case .cancel?: return close(Code.done, "cancelled")
        // A message of a later version.
        case nil: return []
        default: return misuse("no command runs")
        }
    }

    private mutating func receivedWhileRunning(_ message: WireOperatorClientMessage) -> [Action] {
        switch (message.message, asked) {
        case (.taken(let taken)?, _):
            credit = min(Self.creditMax, credit + Int(taken.byteCount))
            return flush()
        case (.cancel?, _): return [.cancel]
        case (.answer(let answer)?, .question?): return reply(.answer(answer))
        case (.fileOpened(let opened)?, .openFile?): return reply(.opened(opened))
        case (.filePart(let part)?, .readFile?): return reply(.part(part))
        case (nil, _): return []
        // The command has ended before it was answered.
        case (_, _) where status != nil: return []
        default: return misuse("nobody asked for that")
        }
    }

    private mutating func reply(_ reply: Reply) -> [Action] {
        asked = nil
        return [.reply(reply)] + flush()
    }

    // MARK: From the store, the timer and the connection

    /// - Parameters:
    ///   - sender: nil: nobody has the credential, or it is not valid any more.
    ///   - reason: the text for the client in that case.
    mutating func signedIn(
        _ sender: ChannelSender?, because reason: String = "no operator has this credential"
    ) -> [Action] {
        guard phase == .signsIn else { return [] }
        guard let sender else { return close(Code.notAuthenticated, reason) }
        phase = .awaitsCommand(sender)
        return startIfReady()
    }

    /// The store cannot say whose the credential is.
    mutating func signInFailed() -> [Action] {
        phase == .signsIn ? close(Code.tryAgainLater, "the store does not answer") : []
    }

    private mutating func startIfReady() -> [Action] {
        guard case .awaitsCommand(let sender) = phase, let command = early else { return [] }
        guard command.credit >= Self.pieceBytesMax else { return misuse("too little credit") }
        early = nil
        phase = .runs
        credit = min(Self.creditMax, Int(command.credit))
        return [.start(sender, command)]
    }

    /// The credential was revoked, has expired, or its operator was deleted.
    mutating func revoked() -> [Action] {
        let wasRunning = isRunning
        return (wasRunning ? [.cancel] : [])
            + close(wasRunning ? Code.revoked : Code.notAuthenticated, "the credential is not valid any more")
    }

    /// For too long nobody could say whether the credential is still valid.
    mutating func unchecked() -> [Action] {
        let wasRunning = isRunning
        return (wasRunning ? [.cancel] : []) + close(Code.tryAgainLater, "the store does not answer")
    }

    /// Hello and command should have come before this.
    mutating func timedOut() -> [Action] {
        isRunning ? [] : close(Code.tooSlow, "no command came")
    }

    /// The client has said nothing for too long, although it is waited for; or others need its place.
    mutating func wearied(_ reason: String = "no answer came") -> [Action] {
        guard waitsForClient else { return [] }
        return (status == nil ? [.cancel] : []) + close(Code.tooSlow, reason)
    }

    /// The connection is gone, or the server stops.
    mutating func closed() -> [Action] {
        let wasRunning = isRunning
        phase = .ended
        forget()
        return wasRunning ? [.cancel] : []
    }

    /// The server stops.
    mutating func stop() -> [Action] {
        let wasRunning = isRunning
        return (wasRunning ? [.cancel] : []) + close(Code.goingAway, "the server stops")
    }

    // MARK: From the command

    mutating func write(_ data: [UInt8]) -> [Action] {
        guard isRunning, status == nil, !data.isEmpty else { return [] }
        waiting.append(.data(data[...]))
        return flush()
    }

    mutating func say(_ text: String) -> [Action] {
        guard isRunning, status == nil else { return [] }
        guard waitingMessages < Self.messagesMax else {
            leftOut += 1
            return []
        }
        waitMessage(text)
        return flush()
    }

    private mutating func waitMessage(_ text: String) {
        let bytes = Array(text.utf8)
        waiting.append(.message(Array(bytes.prefix(Self.wholeCharacters(bytes, atMost: Self.messageBytesMax)))))
        waitingMessages += 1
    }

    /// A line of progress is not worth waiting for.
    func progress(_ text: String?) -> [Action] {
        guard isRunning, status == nil, waiting.isEmpty, asked == nil else { return [] }
        let bytes = Array((text ?? "").utf8)
        return [output(.progress, Array(bytes.prefix(Self.wholeCharacters(bytes, atMost: 1_024))))]
    }

    /// The command waits for the answer, so it asks one thing at a time.
    mutating func ask(_ ask: Ask) -> [Action] {
        guard isRunning, status == nil else { return [] }
        waiting.append(.ask(ask))
        return flush()
    }

    /// The command has ended. Waiting output is sent first, as the client takes it.
    mutating func end(_ status: Int32) -> [Action] {
        guard isRunning, self.status == nil else { return [] }
        self.status = status
        asked = nil
        waiting.removeAll { if case .ask = $0 { true } else { false } }
        return flush()
    }

    // MARK: Sending

    private mutating func flush() -> [Action] {
        var (actions, count) = ([Action](), 0)
        sending: while true {
            if count == waiting.count, leftOut > 0 {
                waitMessage("\(leftOut) messages are left out here: they came faster than they were read.")
                leftOut = 0
            }
            guard count < waiting.count, asked == nil else { break }
            switch waiting[count] {
            case .data(let data):
                let rest = send(data, &actions)
                guard rest.isEmpty else {
                    waiting[count] = .data(rest)
                    break sending
                }
            case .message(let text):
                guard text.count <= credit else { break sending }
                credit -= text.count
                waitingMessages -= 1
                actions.append(output(.message, text))
            case .ask(let ask):
                asked = ask
                actions.append(Self.request(ask))
            }
            count += 1
        }
        waiting.removeFirst(count)
        idleMessages -= actions.count
        return actions + endIfDone()
    }

    /// - Returns: the data for which there is no credit.
    private mutating func send(_ data: ArraySlice<UInt8>, _ actions: inout [Action]) -> ArraySlice<UInt8> {
        var rest = data
        while !rest.isEmpty {
            let room = min(credit, Self.pieceBytesMax)
            let count = Self.wholeCharacters(rest, atMost: room)
            guard count > 0 else { break }
            credit -= count
            actions.append(output(.data, Array(rest.prefix(count))))
            rest = rest.dropFirst(count)
        }
        return rest
    }

    private mutating func endIfDone() -> [Action] {
        guard let status, waiting.isEmpty else { return [] }
        var end = WireOperatorServerMessage()
        end.end.status = status
        return [.send(end)] + close(Code.done, "")
    }

    private func output(_ stream: WireOperatorStream, _ content: [UInt8]) -> Action {
        var message = WireOperatorServerMessage()
        message.output.stream = stream
        message.output.content = content
        return .send(message)
    }

    private static func request(_ ask: Ask) -> Action {
        var message = WireOperatorServerMessage()
        switch ask {
        case .question(let text):
            let bytes = Array(text.utf8)
            message.question.text = String(
                decoding: bytes.prefix(wholeCharacters(bytes, atMost: messageBytesMax)), as: UTF8.self)
        case .openFile(let path): message.openFile.path = path
        case .readFile(let number): message.readFile.file = UInt32(clamping: number)
        }
        return .send(message)
    }

    /// How many of the bytes fit, without cutting a character.
    static func wholeCharacters(_ bytes: some RandomAccessCollection<UInt8>, atMost countMax: Int) -> Int {
        guard bytes.count > countMax else { return bytes.count }
        var count = countMax
        // RFC 3629: bytes of a character after its first begin with the bits 10.
        while count > 0, bytes[bytes.index(bytes.startIndex, offsetBy: count)] & 0xC0 == 0x80 { count -= 1 }
        return count
    }

    // MARK: The end

    private mutating func misuse(_ reason: String) -> [Action] {
        guard phase != .ended else { return [] }
        let wasRunning = isRunning
        return (wasRunning ? [.cancel] : []) + close(Code.misuse, reason)
    }

    private mutating func close(_ code: UInt16, _ reason: String) -> [Action] {
        guard phase != .ended else { return [] }
        phase = .ended
        forget()
        return [.close(code, reason: reason)]
    }

    private mutating func forget() {
        waiting = []
        (early, asked) = (nil, nil)
        (waitingMessages, leftOut) = (0, 0)
    }
}
