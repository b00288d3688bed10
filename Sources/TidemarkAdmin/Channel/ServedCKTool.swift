// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Foundation
internal import TidemarkDomain
internal import TidemarkServer
internal import TidemarkService
internal import TidemarkStore

/// A command of `cktool` that came to a server.
struct ServedCKTool: Sendable {
    let command: any CKToolStoreCommand
    /// The sender's time zone.
    let timeZone: TimeZone

    var right: CKToolRight { type(of: command).right }

    /// What the words of a command mean.
    enum Words {
        case command(ServedCKTool)
        case help(String)
        /// What is wrong with the words.
        case mistake(String)
    }

    /// - Parameter arguments: `cktool`, a time zone, and the words after `tidemark cktool`.
    static func parse(_ arguments: [String]) -> Words {
        guard arguments.count > 2, let timeZone = TimeZone(identifier: arguments[1]) else {
            let name = arguments.count > 1 ? arguments[1] : ""
            return .mistake("Error: This server does not know the time zone \(name). Choose another: TZ=UTC cktool …")
        }
        do {
            guard let command = try CKTool.parseAsRoot(Array(arguments.dropFirst(2))) as? any CKToolStoreCommand else {
                return .mistake("Error: This command works on the caller's own machine. A server does not run it.")
            }
            return .command(ServedCKTool(command: command, timeZone: timeZone))
        } catch {
            let text = CKTool.fullMessage(for: error)
            return CKTool.exitCode(for: error) == .success ? .help(text) : .mistake(text)
        }
    }

    /// Runs the command if its sender may give it.
    func run(_ program: CKToolProgram) async throws {
        if let seat = program.seat, let text = right.refusal(of: seat.request.sender) {
            let failure = AdminFailure(.notAllowed, text)
            // Only operators are in the audit with what they tried, and only with what would change something.
            if case .operator = seat.request.sender, right.mayChange {
                let store = AdminStore(seat.storage)
                let action = CKToolProgram.audited(type(of: command)._commandName, command.place, by: seat.identity)
                let id = try await store.beginAudit(action, of: ChangeCause(seat.request.uuid))
                try await store.endAudit(id, failure: failure.description)
            }
            throw failure
        }
        try await command.run(program)
    }
}
