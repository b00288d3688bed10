// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Foundation
internal import Glibc
internal import TidemarkAdmin
internal import TidemarkLocalPostgres
internal import TidemarkServer
internal import TidemarkSockets
internal import TidemarkTelemetry

@main
struct Tidemark: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tidemark",
        abstract: "A self-hosted CloudKit: serves devices that use the CloudKit API of the Tidemark library.",
        version: "tidemark \(Server.version)",
        subcommands: [Dev.self, Setup.self, Serve.self, Migrate.self, Admin.self, CKTool.self, GenerateManual.self])

    /// The commands of the name by which the program was called.
    private static var root: any ParsableCommand.Type {
        CKTool.isProgram(CommandLine.arguments.first) ? CKTool.self : Tidemark.self
    }

    static func main() {
        // Before anything starts a thread, because threads inherit which signals are blocked.
        ProcessSignals.block()
        Heap.keepFreedMemory()
        let status = end()
        fflush(nil)
        Glibc.exit(status.rawValue)
    }

    /// Runs what the arguments say.
    private static func end() -> ExitStatus {
        do {
            ShellCompletion.prepare(CommandLine.arguments)
            var command = try root.parseAsRoot()
            let variables = ProcessInfo.processInfo.environment
            let terminal = ProcessTerminal(variables: variables)
            if let command = command as? any AdminCommand {
                prepareForAdmin(saying: command.interruption)
                // After the program's name and "admin".
                let words = Array(CommandLine.arguments.dropFirst(2))
                return try blocking {
                    await AdminProgram.run(command, arguments: words, terminal: terminal, variables: variables)
                }
            }
            if let command = command as? any ContextCommand {
                prepareForAdmin()
                return try blocking { await AdminProgram.run(command, terminal: terminal, variables: variables) }
            }
            if let command = command as? AdminConsole {
                let console = ConsoleProgram(command.options, terminal: terminal, variables: variables)
                return try console.run(prepareForAdmin())
            }
            if let command = command as? any LocalCommand {
                prepareForAdmin()
                return try blocking { await AdminProgram.run(command, terminal: terminal) }
            }
            if let command = command as? any CKToolCommand {
                prepareForAdmin()
                return try blocking { await CKToolProgram.run(command, terminal: terminal, variables: variables) }
            }
            try command.run()
            return .ok
        } catch {
            return report(error)
        }
    }

    @discardableResult
    private static func prepareForAdmin(saying text: String? = nil) -> ProcessSignals {
        // What makes a command fail, the command says itself.
        Log.writeToStandardError(level: .warning, failureLevel: .error)
        return ServingLoop.listenForSignals(saying: text)
    }

    /// Help goes to standard output, and mistakes to standard error. The statuses are ours, also for what
    /// ArgumentParser finds.
    private static func report(_ error: any Error) -> ExitStatus {
        let code = root.exitCode(for: error)
        let isOfParser = code == .validationFailure || code == .success
        guard isOfParser else {
            let failure =
                (error as? LocalPostgresError).map { AdminFailure(.refused, $0.description) } ?? AdminFailure(error)
            printError("Error: \(failure)")
            return failure.status
        }
        let words = Array(CommandLine.arguments.dropFirst())
        // Of a mistyped command ArgumentParser shows the help or the usage of another one.
        if let mistake = CommandPath.mistake(in: words, of: root) {
            printError("Error: \(mistake)")
            return .usage
        }
        let text = root.fullMessage(for: error)
        if code == .success {
            print(text)
            return .ok
        }
        printError(text)
        if let hint = Admin.hint(for: words) ?? CommandPath.misplacedOption(in: words, of: root) { printError(hint) }
        return .usage
    }
}
