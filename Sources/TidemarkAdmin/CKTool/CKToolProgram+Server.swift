// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import Synchronization

/// Commands that a server carries out.
extension CKToolProgram {
    /// The server that carries out a command; nil: this program does.
    ///
    /// - Throws: ``AdminFailure`` if there is no token, or if the context's server cannot be used.
    func server(for command: any CKToolStoreCommand) throws(AdminFailure) -> OperatorTarget? {
        // A command says itself that it has no place, and not all need one.
        guard let target = try? target(command.place), case .server(_, let own) = target.place else { return nil }
        return try OperatorTarget(
            target, variables: variables, credential: try credential(for: command, ofContext: own))
    }

    /// A management token wins over the credential of the context. An operator who has a context needs no token.
    private func credential(
        for command: any CKToolStoreCommand, ofContext own: String
    ) throws(AdminFailure) -> ChannelCredential {
        let option = command.access.token
        let credential: ChannelCredential
        switch type(of: command).right {
        case .user: credential = ChannelCredential(try tokens.required(.user, option: option), .user)
        case .management:
            credential =
                try tokens.found(.management, option: option).map { ChannelCredential($0, .management) }
                ?? ChannelCredential(own)
        }
        guard credential.isPossible else {
            throw AdminFailure(.notAllowed, "The \(credential.kind.name) is not valid: it is empty or too long.")
        }
        return credential
    }

    /// Sends a command to a server, and answers what the server asks.
    func send(_ command: any CKToolStoreCommand, to server: OperatorTarget) async throws -> ExitStatus {
        let sent = SentCommand(command.words(self), command.place, terminal, timeZone: TimeZone.current.identifier)
        guard let path = command.outputFile else { return try await CommandSender.run(sent, on: server, terminal) }
        let kept = KeptOutput(terminal)
        let status = try await CommandSender.run(sent, on: server, kept)
        if status == .ok { try write(kept.text, toFile: path) }
        return status
    }
}

/// A terminal of which the output is kept for a file of this machine.
private final class KeptOutput: OperatorTerminal {
    private let terminal: any OperatorTerminal
    private let kept = Mutex("")
    /// More than a schema has.
    private static let bytesMax = 16 << 20

    init(_ terminal: any OperatorTerminal) { self.terminal = terminal }

    var text: String { kept.withLock { $0 } }
    var hasColor: Bool { terminal.hasColor }
    var canAsk: Bool { terminal.canAsk }
    var showsProgress: Bool { terminal.showsProgress }
    var hasLocalFiles: Bool { terminal.hasLocalFiles }

    func write(_ text: String) async throws {
        let fits = kept.withLock { kept in
            kept += text
            return kept.utf8.count <= Self.bytesMax
        }
        guard fits else { throw AdminFailure(.fault, "The server sent more than a file of this command can have.") }
    }

    func say(_ text: String) { terminal.say(text) }
    func showProgress(_ text: String?) { terminal.showProgress(text) }
    func ask(_ question: String) async -> String? { await terminal.ask(question) }
    func mayRead(_ path: String) -> Bool { terminal.mayRead(path) }
    func open(_ path: String) throws(AdminFailure) -> InputFile { try terminal.open(path) }
}
