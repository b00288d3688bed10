// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// A program that runs beside this one, on its own core if the machine has one, and ends with it.
final class ChildProgram {
    private let process: Process
    private let logPath: String

    private static let startSeconds = 30.0
    private static let stopSeconds = 15.0

    /// - Parameters:
    ///   - program: the name of a product of this package, which is in the same directory as this program; or the path of another
    ///     one.
    ///   - core: the only core on which it may run; nil for all.
    ///   - log: the file for its output.
    init(_ program: String, _ arguments: [String], core: Int?, log: String) throws {
        let path = try Self.path(of: program)
        // The kernel ends it with the thread that started it, which is the main one.
        let command = ["/usr/bin/setpriv", "--pdeathsig", "KILL"] + Cores.command(core) + [path] + arguments
        _ = FileManager.default.createFile(atPath: log, contents: nil)
        let output = try FileHandle(forWritingTo: URL(fileURLWithPath: log))
        logPath = log
        process = Process()
        process.executableURL = URL(fileURLWithPath: command[0])
        process.arguments = Array(command.dropFirst())
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = output
        try process.run()
    }

    var id: Int32 { process.processIdentifier }

    /// Runs a program to its end and returns what it printed.
    static func output(_ program: String, _ arguments: [String], core: Int?, in directory: String) throws -> String {
        let log = "\(directory)/\(program)-\(UUID().uuidString).log"
        defer { try? FileManager.default.removeItem(atPath: log) }
        let child = try ChildProgram(program, arguments, core: core, log: log)
        child.process.waitUntilExit()
        guard child.process.terminationStatus == 0 else {
            throw BenchError("\(program) \(arguments.joined(separator: " ")) failed:\n\(child.log)")
        }
        return child.log
    }

    /// Waits until it has printed `marker` and returns the port number at the end of the word that follows.
    func port(after marker: String) throws -> UInt16 {
        let deadline = Date(timeIntervalSinceNow: Self.startSeconds)
        while process.isRunning, Date() < deadline {
            let log = log
            if let range = log.range(of: marker) {
                let word = log[range.upperBound...].prefix { !$0.isWhitespace }
                // A line may be incomplete.
                if word.endIndex < log.endIndex, let port = word.split(separator: ":").last.flatMap({ UInt16($0) }) {
                    return port
                }
            }
            usleep(2_000)
        }
        throw BenchError("\(process.arguments ?? []) did not start:\n\(log)")
    }

    func stop() {
        guard process.isRunning else { return }
        process.terminate()
        let deadline = Date(timeIntervalSinceNow: Self.stopSeconds)
        while process.isRunning, Date() < deadline { usleep(2_000) }
        if process.isRunning { kill(id, SIGKILL) }
        process.waitUntilExit()
    }

    private var log: String { (try? String(contentsOfFile: logPath, encoding: .utf8)) ?? "" }

    private static func path(of program: String) throws -> String {
        if program.hasPrefix("/") { return program }
        let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let path = URL(fileURLWithPath: own).deletingLastPathComponent().appendingPathComponent(program).path
        guard FileManager.default.isExecutableFile(atPath: path) else {
            throw BenchError("\(path) is missing: run `swift build -c release --product \(program)` first.")
        }
        return path
    }
}
