// SPDX-License-Identifier: Apache-2.0

internal import TidemarkWire

/// The client's side of an operator's channel. No clock, no socket: messages and what the terminal did in, actions out.
///
/// The server sends no more than there is credit for, and asks one thing at a time, so this side holds little. A server that
/// does otherwise, or asks for a file that the operator did not name, is not trusted.
struct OperatorClientMachine {
    enum Action: Equatable {
        case send(WireOperatorClientMessage)
        /// Tell by ``wrote(_:)`` when it is written.
        case write(String)
        /// Likewise.
        case say(String)
        case progress(String?)
        /// Tell the answer by ``answered(_:)``.
        case ask(String)
        /// Tell by ``opened(name:byteCount:)`` or ``failed(_:)``.
        case open(String)
        /// The file of this number. Tell by ``read(_:)`` or ``failed(_:)``.
        case read(Int)
        case end(ExitStatus)
        case fail(AdminFailure)
    }

    /// What the server waits for.
    private enum Awaited {
        case answer
        case file
        case part
    }

    private enum Phase {
        case opening
        case runs
        case ended
    }

    /// Bytes of output that may be under way.
    static let credit = 262_144
    /// The bytes of an answer, or of a reason.
    private static let textBytesMax = 4_096

    private let command: SentCommand
    private let credential: ChannelCredential
    private let client: String
    private let server: String
    private var phase = Phase.opening
    private var credit = Self.credit
    private var awaited: Awaited?
    private var openFiles = 0

    /// - Parameters:
    ///   - client: its version, for the server's log.
    ///   - server: its URL, for messages.
    init(_ command: SentCommand, credential: ChannelCredential, client: String, server: String) {
        self.command = command
        self.credential = credential
        self.client = client
        self.server = server
    }

    // MARK: The connection

    mutating func opened() -> [Action] {
        guard phase == .opening else { return [] }
        phase = .runs
        var hello = WireOperatorClientMessage()
        hello.hello.credential = Array(credential.text.utf8)
        hello.hello.client = client
        return [.send(hello), .send(command.message)]
    }

    /// - Parameter message: nil: it cannot be read.
    mutating func received(_ message: WireOperatorServerMessage?) -> [Action] {
        guard phase == .runs else { return [] }
        guard let message else { return misuse("a message that cannot be read") }
        switch message.message {
        case .output(let output)?: return received(output)
        case .end(let end)?:
            phase = .ended
            return [.end(ExitStatus(rawValue: end.status) ?? .fault)]
        // A message of a later version.
        case nil: return []
        case .question(let question)?: return wait(.answer, .ask(question.text))
        case .openFile(let file)?: return open(file.path)
        case .readFile(let part)?:
            guard part.file < openFiles else { return misuse("it asked for a file that is not open") }
            return wait(.part, .read(Int(part.file)))
        }
    }

    private mutating func received(_ output: WireOperatorOutput) -> [Action] {
        guard let text = String(validating: output.content, as: UTF8.self) else { return misuse("text that is none") }
        if output.stream == .progress { return [.progress(text.isEmpty ? nil : text)] }
        guard output.content.count <= credit else { return misuse("more output than there is room for") }
        credit -= output.content.count
        return [output.stream == .data ? .write(text) : .say(text)]
    }

    private mutating func open(_ path: String) -> [Action] {
        guard command.names(path) else { return misuse("it asked for a file that the command does not name: \(path)") }
        return wait(.file, .open(path))
    }

    private mutating func wait(_ awaited: Awaited, _ action: Action) -> [Action] {
        guard self.awaited == nil else { return misuse("two questions at once") }
        self.awaited = awaited
        return [action]
    }

    /// The connection has ended.
    ///
    /// - Parameters:
    ///   - code: of the server's close frame; nil: there was none.
    ///   - fault: what went wrong, as a sentence.
    mutating func closed(code: UInt16?, reason: String, fault: String) -> [Action] {
        guard phase != .ended else { return [] }
        let hadBegun = phase == .runs
        phase = .ended
        switch code {
        case 4401?:
            return [.fail(credential.refusal(server, reason))]
        case 4403?:
            let text =
                "The server \(server) does not accept the \(credential.kind.name) any more. \(Self.unknownEnd)"
            return [.fail(AdminFailure(.notAllowed, text))]
        case 4400?:
            return [.fail(AdminFailure(.fault, "The server \(server) did not understand this program: \(reason)."))]
        case let code?:
            let why = reason.isEmpty ? "code \(code)" : reason
            return [
                .fail(AdminFailure(.unreachable, "The server \(server) ended the command: \(why). \(Self.unknownEnd)"))
            ]
        case nil:
            return [.fail(AdminFailure(.unreachable, hadBegun ? "\(fault) \(Self.unknownEnd)" : fault))]
        }
    }

    /// What a command says that was cut off.
    static let unknownEnd =
        "Whether the command took effect is not known. Look, and run it again if it did not."

    // MARK: The terminal

    /// Output has been written, so the server may send as much again.
    mutating func wrote(_ byteCount: Int) -> [Action] {
        guard phase == .runs, byteCount > 0 else { return [] }
        credit += byteCount
        var message = WireOperatorClientMessage()
        message.taken.byteCount = UInt32(byteCount)
        return [.send(message)]
    }

    /// - Parameter text: nil: nobody answered.
    mutating func answered(_ text: String?) -> [Action] {
        guard take(.answer) else { return [] }
        var message = WireOperatorClientMessage()
        message.answer.isMissing = text == nil
        message.answer.text = Self.cut(text ?? "")
        return [.send(message)]
    }

    mutating func opened(name: String, byteCount: Int?) -> [Action] {
        guard take(.file) else { return [] }
        openFiles += 1
        var message = WireOperatorClientMessage()
        message.fileOpened.name = Self.cut(name)
        message.fileOpened.byteCount = byteCount.map { Int64($0) } ?? -1
        return [.send(message)]
    }

    mutating func read(_ bytes: [UInt8]) -> [Action] {
        guard take(.part) else { return [] }
        var message = WireOperatorClientMessage()
        message.filePart.content = bytes
        return [.send(message)]
    }

    /// The file cannot be opened, or not be read.
    mutating func failed(_ reason: String) -> [Action] {
        var message = WireOperatorClientMessage()
        if take(.file) {
            message.fileOpened.failure = Self.cut(reason)
        } else if take(.part) {
            message.filePart.failure = Self.cut(reason)
        } else {
            return []
        }
        return [.send(message)]
    }

    /// The operator wants the command to end. The server says when it has.
    mutating func cancelled() -> [Action] {
        guard phase == .runs else { return [] }
        var message = WireOperatorClientMessage()
        message.cancel = WireOperatorCancel()
        return [.send(message)]
    }

    /// The server has taken longer than somebody waits who wants to know something and changes nothing.
    mutating func timedOut() -> [Action] {
        guard phase != .ended else { return [] }
        phase = .ended
        return [.fail(AdminFailure(.unreachable, "The server \(server) has not answered in time."))]
    }

    private mutating func take(_ expected: Awaited) -> Bool {
        guard phase == .runs, awaited == expected else { return false }
        awaited = nil
        return true
    }

    private mutating func misuse(_ what: String) -> [Action] {
        phase = .ended
        return [.fail(AdminFailure(.fault, "The server \(server) does not keep to the protocol: \(what)."))]
    }

    private static func cut(_ text: String) -> String {
        var text = text[...]
        while text.utf8.count > textBytesMax { text = text.dropLast() }
        return String(text)
    }
}
