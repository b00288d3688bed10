// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import TidemarkTestSupport

/// The real `tidemark`, as a process: what it printed, and how it ended.
final class CommandRun: Sendable {
    private struct State {
        var waiters: [CheckedContinuation<Int32, Never>] = []
        var status: Int32?
    }

    // NB: Process is not Sendable; it is only told to start, and asked for its id, both once.
    nonisolated(unsafe) private let process = Process()
    private let state = Mutex(State())
    /// What it prints goes to files: a pipe would stay open in other processes that are started meanwhile.
    private let directory: TestDirectory

    /// Beside the tests' own executable.
    private static let executable = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        .deletingLastPathComponent().appendingPathComponent("tidemark")

    init(_ arguments: [String], environment: [String: String] = [:]) throws {
        directory = try TestDirectory()
        process.executableURL = Self.executable
        process.arguments = arguments
        var all = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("TIDEMARK_") }
        all.merge(environment) { $1 }
        process.environment = all
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = try Self.file(directory.path + "/output")
        process.standardError = try Self.file(directory.path + "/errors")
        process.terminationHandler = { [weak self] process in
            self?.ended(process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus)
        }
        try process.run()
    }

    deinit {
        if process.isRunning { process.terminate() }
        directory.remove()
    }

    private static func file(_ path: String) throws -> FileHandle {
        _ = FileManager.default.createFile(atPath: path, contents: nil)
        return try FileHandle(forWritingTo: URL(fileURLWithPath: path))
    }

    /// Runs to the end.
    static func run(
        _ arguments: [String], environment: [String: String] = [:]
    ) async throws -> (status: Int32, output: String, errors: String) {
        let run = try CommandRun(arguments, environment: environment)
        let status = await run.status()
        return (status, run.output, run.errors)
    }

    private func ended(_ status: Int32) {
        let waiters = state.withLock { state in
            state.status = status
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume(returning: status) }
    }

    var output: String { read("/output") }
    var errors: String { read("/errors") }
    var processID: Int32 { process.processIdentifier }

    private func read(_ name: String) -> String {
        String(decoding: FileManager.default.contents(atPath: directory.path + name) ?? Data(), as: UTF8.self)
    }

    /// The exit code; a signal's number, negated, if one ended it.
    func status() async -> Int32 {
        await withCheckedContinuation { continuation in
            let status = state.withLock { state in
                if state.status == nil { state.waiters.append(continuation) }
                return state.status
            }
            if let status { continuation.resume(returning: status) }
        }
    }

    func signal(_ number: Int32) {
        kill(processID, number)
    }

    /// Looks every few milliseconds, a minute at the most.
    func wait(for what: String, _ condition: (CommandRun) -> Bool) async throws {
        for _ in 0..<3_000 {
            if condition(self) { return }
            try await Task.sleep(for: .milliseconds(20))
        }
        throw InVain(description: "waited in vain for \(what); output: \(output) errors: \(errors)")
    }

    struct InVain: Error, CustomStringConvertible {
        let description: String
    }
}
