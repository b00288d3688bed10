// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Foundation
internal import TidemarkAssets
internal import TidemarkDomain
internal import TidemarkServer
internal import TidemarkStore

/// All that a command of `cktool` may use.
package struct CKToolProgram: Sendable {
    let terminal: any OperatorTerminal
    /// Environment variables. A server gives none of its own.
    let variables: [String: String]
    /// Nil: the command runs on the machine of the person who calls it, on a database.
    let seat: CKToolSeat?

    init(terminal: any OperatorTerminal, variables: [String: String], seat: CKToolSeat? = nil) {
        self.terminal = terminal
        self.variables = variables
        self.seat = seat
    }

    /// Runs a command, here or over a server, and says why it failed.
    ///
    /// - Parameter variables: of the environment.
    package static func run(
        _ command: any CKToolCommand, terminal: any OperatorTerminal, variables: [String: String]
    ) async -> ExitStatus {
        let program = CKToolProgram(terminal: terminal, variables: variables)
        return await program.ending {
            if let command = command as? any CKToolStoreCommand, let server = try program.server(for: command) {
                return try await program.send(command, to: server)
            }
            try await command.run(program)
            return .ok
        }
    }

    func ending(_ body: () async throws -> ExitStatus) async -> ExitStatus {
        do {
            return try await body()
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
    }

    // MARK: Tokens

    var tokens: CKToolTokens { CKToolTokens(variables: variables) }

    /// The one place that looks at a management token. Over a database it opens nothing. A person is told so, and a
    /// script is not disturbed. A server has looked at it before.
    func noteManagementToken(_ option: String?) throws(AdminFailure) {
        guard seat == nil, terminal.canAsk, try tokens.found(.management, option: option) != nil else { return }
        terminal.say("The management token has no meaning here: what you may do, the role of the database decides.")
    }

    /// The hash of the user's credential.
    ///
    /// - Throws: ``AdminFailure`` if there is no user token.
    func userCredential(_ option: String?) throws(AdminFailure) -> [UInt8] {
        if let seat { return try seat.userCredential() }
        return Credential(text: try tokens.required(.user, option: option)).hash
    }

    // MARK: The store

    /// Dates without a zone are local.
    var values: CKToolValueReader { CKToolValueReader(timeZone: seat?.timeZone ?? .current) }

    /// - Parameter isConfirmed: whether questions are answered with yes.
    func screen(isConfirmed: Bool = false) -> Screen {
        Screen(output: .json, isConfirmed: isConfirmed, terminal: terminal)
    }

    /// Opens the store of a container for as long as `body` runs.
    ///
    /// - Parameter action: what is written to the audit; nil: nothing, because the command only reads, or acts for an
    ///   account.
    func withConsole(
        _ place: CKToolPlace, isConfirmed: Bool = false, auditing action: String? = nil,
        _ body: (Console) async throws -> Void
    ) async throws {
        let screen = screen(isConfirmed: isConfirmed)
        func run(_ console: Console, _ identity: OperatorIdentity) async throws {
            let audited = action.map { Self.audited($0, place, by: identity) }
            try await Auditor.run(audited, on: console) { try await body(console) }
        }
        if let seat {
            return try await run(
                Console(
                    seat.storage, loop: seat.loop, screen: screen, container: place.container,
                    environment: place.environment.value, operatorIdentity: seat.identity,
                    command: seat.request.uuid, serverLimits: seat.request.limits,
                    serverConnections: seat.request.connections), seat.identity)
        }
        let identity = OperatorIdentity.ofProcess(variables: variables)
        try await AdminProgram.withConsole(try target(place), screen, as: identity) { console in
            try await run(console, identity)
        }
    }

    /// What the audit has of a command: nothing of its options but the container.
    static func audited(_ action: String, _ place: CKToolPlace?, by identity: OperatorIdentity) -> AuditAction {
        AuditAction(
            who: identity.name, address: identity.address, action: "cktool \(action)",
            target: place.map { "\($0.container) \($0.environment.rawValue)" } ?? "")
    }

    /// Where commands go.
    ///
    /// - Throws: ``AdminFailure`` if nothing says it.
    func target(_ place: CKToolPlace?) throws -> AdminTarget {
        let options = try AdminOptions.parse(
            place.map { ["--container=\($0.container)", "--environment=\($0.environment.rawValue)"] } ?? [])
        let contexts = ContextFile(variables: variables)
        return try AdminTarget(options, variables: variables) { () throws(AdminFailure) in try contexts.read() }
    }

    /// Where the content of assets is. All servers and this program have one directory.
    ///
    /// - Throws: ``AdminFailure`` if there is none.
    func assetStore() throws -> FileAssetStore {
        guard let seat else { return try CKToolAssets.store(variables: variables) }
        guard let directory = seat.request.assetDirectory else {
            throw AdminFailure(.refused, "This server stores no assets. Whoever runs it gives it an --asset-directory.")
        }
        return try FileAssetStore(
            directory: directory, threads: 1, uploadBytesMax: seat.request.limits.uploadBytesMax)
    }

    // MARK: Files of the person who calls the program

    /// A path may begin with `~/`.
    func path(_ path: String) -> String {
        guard path.hasPrefix("~/"), let home = variables["HOME"] else { return path }
        return home + path.dropFirst()
    }

    /// The text of a file.
    func text(ofFile path: String) throws(AdminFailure) -> String {
        try terminal.open(self.path(path)).text(byteCountMax: textBytesMax)
    }

    /// Writes a text to a file, in the place of an older one. What is no file of its own, such as `/dev/stdout`, a pipe or a
    /// link, stays what it is.
    ///
    /// - Throws: ``AdminFailure`` in a server, which writes no files for others.
    func write(_ text: String, toFile path: String) throws(AdminFailure) {
        guard seat == nil else { throw AdminFailure(.usage, "A server writes no files. Leave out --output-file.") }
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
    func textOfInput() throws(AdminFailure) -> String { try terminal.open("-").text(byteCountMax: textBytesMax) }

    /// More than a schema or the fields of a record have. A server reads those of several people at once.
    private var textBytesMax: Int { seat == nil ? 16 << 20 : 4 << 20 }
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
