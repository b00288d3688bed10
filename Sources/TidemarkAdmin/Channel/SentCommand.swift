// SPDX-License-Identifier: Apache-2.0

internal import TidemarkWire

/// A command as it is sent to a server.
struct SentCommand: Sendable, Equatable {
    /// Without `tidemark admin`, and without the option that names the server. Those of `cktool` begin with its name and the
    /// sender's time zone, and those of a question for names with ``NameQuestion/word``.
    let arguments: [String]
    /// The files of this machine that the server may ask for; nil: those among the arguments.
    private let files: [String]?
    let container: String?
    let environment: String
    let hasColor: Bool
    let canAsk: Bool
    let showsProgress: Bool

    /// - Parameter arguments: as they were typed after `tidemark admin`.
    init(
        _ command: any AdminCommand, arguments: [String], _ target: AdminTarget, _ terminal: any OperatorTerminal
    ) {
        self.arguments = Self.withoutContext(arguments)
        files = nil
        container = target.container
        environment = target.environment.name
        hasColor = terminal.hasColor
        canAsk = terminal.canAsk
        showsProgress = terminal.showsProgress
    }

    /// A question for names, which names no file.
    init(_ question: NameQuestion, _ target: AdminTarget) {
        arguments = question.words
        files = []
        container = target.container
        environment = target.environment.name
        (hasColor, canAsk, showsProgress) = (false, false, false)
    }

    /// A command of `cktool`.
    ///
    /// - Parameter timeZone: of dates without a zone.
    init(_ words: CKToolWords, _ place: CKToolPlace?, _ terminal: any OperatorTerminal, timeZone: String) {
        arguments = [CKTool.programName, timeZone] + words.words
        files = words.files
        container = place?.container
        environment = place?.environment.rawValue ?? EnvironmentName.development.rawValue
        hasColor = terminal.hasColor
        canAsk = terminal.canAsk
        showsProgress = terminal.showsProgress
    }

    /// The context's name means something on this machine only.
    static func withoutContext(_ arguments: [String]) -> [String] {
        var (rest, result) = (arguments[...], [String]())
        while let argument = rest.popFirst() {
            switch argument {
            case "--": return result + [argument] + rest
            case "--context": _ = rest.popFirst()
            case _ where argument.hasPrefix("--context="): continue
            default: result.append(argument)
            }
        }
        return result
    }

    /// The request in a form that a shell can repeat, with where it goes. The credential is the context's, and not in it.
    ///
    /// - Parameter url: of the server.
    func text(to url: String, _ target: AdminTarget) -> String {
        let head = arguments.prefix { $0 != "--" }
        func has(_ option: String) -> Bool { head.contains { $0 == option || $0.hasPrefix("\(option)=") } }
        var more = (target.context?.name).map { ["--context", $0] } ?? []
        if let container, !has("--container") { more += ["--container", container] }
        if !has("--environment") { more += ["--environment", environment] }
        let words = ["tidemark", "admin"] + head + more + arguments.dropFirst(head.count)
        return "-- to \(url)\n\(words.map(ShellWord.quoted).joined(separator: " "))"
    }

    /// Whether a server takes so many and so long words: those of Operators.proto, and less than a message has room for.
    var isSendable: Bool {
        arguments.count <= 512 && arguments.reduce(0) { $0 + $1.utf8.count } <= 65_536
    }

    /// Whether the operator named this file. A server gets no other.
    func names(_ path: String) -> Bool {
        if let files { return files.contains(path) }
        return arguments.contains { argument in
            if argument == path { return true }
            guard argument.hasPrefix("-"), let sign = argument.firstIndex(of: "=") else { return false }
            return argument[argument.index(after: sign)...] == path
        }
    }

    var message: WireOperatorClientMessage {
        var message = WireOperatorClientMessage()
        var command = WireOperatorCommand()
        command.arguments = arguments
        command.container = container ?? ""
        command.environment = environment
        command.hasColor = hasColor
        command.canAsk = canAsk
        command.showsProgress = showsProgress
        command.credit = UInt32(OperatorClientMachine.credit)
        message.command = command
        return message
    }
}
