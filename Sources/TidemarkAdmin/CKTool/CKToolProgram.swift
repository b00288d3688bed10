// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Foundation
internal import TidemarkDomain
internal import TidemarkStore

/// All that a command of `cktool` may use.
package struct CKToolProgram: Sendable {
    let terminal: any OperatorTerminal
    /// Of the environment.
    let variables: [String: String]

    /// Runs a command, and says why it failed.
    ///
    /// - Parameter variables: of the environment.
    package static func run(
        _ command: any CKToolCommand, terminal: any OperatorTerminal, variables: [String: String]
    ) async -> ExitStatus {
        let program = CKToolProgram(terminal: terminal, variables: variables)
        do {
            try await command.run(program)
        } catch is CommandEnd {
            return .ok
        } catch let verdict as CKToolVerdict {
            terminal.say(verdict.description)
            return .failedCheck
        } catch {
            let failure = AdminFailure(error)
            terminal.say("Error: \(failure)")
            return failure.status
        }
        return .ok
    }

    var tokens: CKToolTokens { CKToolTokens(variables: variables) }

    /// Dates without a zone are local.
    var values: CKToolValueReader { CKToolValueReader(timeZone: .current) }

    /// - Parameter isConfirmed: whether questions are answered with yes.
    func screen(isConfirmed: Bool = false) -> Screen {
        Screen(output: .json, isConfirmed: isConfirmed, terminal: terminal)
    }

    /// The one place that looks at a management token. Over a database it opens nothing. A person is told so, and a
    /// script is not disturbed.
    func noteManagementToken(_ option: String?) throws(AdminFailure) {
        guard terminal.canAsk, try tokens.found(.management, option: option) != nil else { return }
        terminal.say("The management token has no meaning here: what you may do, the role of the database decides.")
    }

    /// Opens the store of a container for as long as `body` runs.
    ///
    /// - Parameter action: what is written to the audit; nil: nothing, because the command only reads, or acts for an
    ///   account.
    func withConsole(
        _ place: CKToolPlace, isConfirmed: Bool = false, auditing action: String? = nil,
        _ body: (Console) async throws -> Void
    ) async throws {
        let options = try AdminOptions.parse([
            "--container=\(place.container)", "--environment=\(place.environment.rawValue)",
        ])
        let contexts = ContextFile(variables: variables)
        let target = try AdminTarget(options, variables: variables) { () throws(AdminFailure) in try contexts.read() }
        let identity = OperatorIdentity.ofProcess(variables: variables)
        try await AdminProgram.withConsole(target, screen(isConfirmed: isConfirmed), as: identity) { console in
            let audited = action.map {
                AuditAction(
                    who: identity.name, address: identity.address, action: "cktool \($0)",
                    target: "\(place.container) \(place.environment.rawValue)")
            }
            try await Auditor.run(audited, on: console) { try await body(console) }
        }
    }

    /// A file of the person who calls the program; a path may begin with `~/`.
    func path(_ path: String) -> String {
        guard path.hasPrefix("~/"), let home = variables["HOME"] else { return path }
        return home + path.dropFirst()
    }

    /// The text of a file.
    func text(ofFile path: String) throws(AdminFailure) -> String {
        try terminal.open(self.path(path)).text(byteCountMax: Self.textBytesMax)
    }

    /// Writes a text to a file of that person, in the place of an older one. What is no file of its own, such as
    /// `/dev/stdout`, a pipe or a link, stays what it is.
    func write(_ text: String, toFile path: String) throws(AdminFailure) {
        let path = self.path(path)
        var status = stat()
        let isOther = lstat(path, &status) == 0 && status.st_mode & S_IFMT != S_IFREG
        if isOther {
            try AtomicFile.write(Data(text.utf8), through: path)
        } else {
            try AtomicFile.write(Data(text.utf8), to: path, mode: 0o644)
        }
    }

    /// The text of standard input.
    func textOfInput() throws(AdminFailure) -> String { try terminal.open("-").text(byteCountMax: Self.textBytesMax) }

    /// Far more than a schema or the fields of a record have.
    private static let textBytesMax = 16 << 20
}

/// What a check found wrong, in a whole text of its own.
struct CKToolVerdict: Error, CustomStringConvertible, Equatable {
    let description: String
}

/// A container in one of its environments.
struct CKToolPlace: Sendable, Equatable {
    let container: String
    let environment: EnvironmentName
}
