// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import Testing
import TidemarkTestSupport

/// A device on which `sharedlists` or one of the programs of `Tests/ClientPrograms` runs, as a process of its own; the test
/// is its user.
///
/// Whoever waits, waits for lines that the program prints. One task at a time may use it.
final class ClientDevice: Sendable {
    typealias Items = [String: [String: String]]

    /// Which program.
    enum App: String {
        case contacts = "ContactsProgram"
        case notes = "NotesProgram"
        case lists = "sharedlists"

        fileprivate func arguments(_ directory: String, automatically: Bool) -> [String] {
            switch self {
            case .contacts, .notes: [directory, automatically ? "automatic" : "manual"]
            case .lists: [directory, "--json"] + (automatically ? [] : ["--manual"])
            }
        }
    }

    private struct State {
        var process: Process?
        var input: FileHandle?
        var lines = AsyncStream<String> { $0.finish() }
        var items: Items = [:]
        var pendingCount = 0
        var problems: [String] = []
    }

    let name: String
    private let app: App
    private let site: Site
    private let directory: String
    private let state = Mutex(State())

    init(_ app: App, _ name: String, _ site: Site, _ directory: TestDirectory) throws {
        self.app = app
        self.name = name
        self.site = site
        self.directory = "\(directory.path)/\(app)-\(name)"
        try FileManager.default.createDirectory(atPath: self.directory, withIntermediateDirectories: true)
    }

    deinit { state.withLock { $0.process }?.terminate() }

    /// What the program showed last.
    var items: Items { state.withLock { $0.items } }
    var pendingCount: Int { state.withLock { $0.pendingCount } }
    /// What the program has told of what it could not send.
    var problems: [String] { state.withLock { $0.problems } }
    /// Where the program keeps its data.
    var dataDirectory: String { "\(directory)/data" }
    private var errors: String { (try? String(contentsOfFile: "\(directory)/errors", encoding: .utf8)) ?? "" }

    // MARK: Starting and ending

    /// - Parameter isOnline: false: there is no server where the program looks for it.
    func start(account: String = "alice", automatically: Bool = false, isOnline: Bool = true) throws {
        var environment = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("TIDEMARK_") }
        environment.merge(site.environment(account)) { $1 }
        if !isOnline { environment["TIDEMARK_URL"] = "wss://127.0.0.1:1" }
        let (process, input, output) = (Process(), Pipe(), Pipe())
        process.executableURL = URL(fileURLWithPath: "\(Program.directory)/\(app.rawValue)")
        process.arguments = app.arguments(dataDirectory, automatically: automatically)
        process.environment = environment
        process.standardInput = input
        process.standardOutput = output
        let errors = "\(directory)/errors"
        if !FileManager.default.fileExists(atPath: errors) {
            FileManager.default.createFile(atPath: errors, contents: nil)
        }
        let errorsFile = FileHandle(forWritingAtPath: errors)
        process.standardError = errorsFile
        defer { try? errorsFile?.close() }
        try process.start()
        let lines = Self.lines(from: output.fileHandleForReading)
        state.withLock { state in
            (state.process, state.input, state.lines) = (process, input.fileHandleForWriting, lines)
        }
    }

    /// The user closes the program.
    func quit() async throws {
        let (process, lines) = state.withLock { state in
            defer { (state.process, state.input) = (nil, nil) }
            try? state.input?.close()
            return (state.process, state.lines)
        }
        for await line in lines { take(line) }
        process?.waitUntilExit()
        if process?.terminationStatus != 0 { throw NeverHappened(description: "\(name) ended badly: \(errors)") }
    }

    /// Kills the program, while it waits for its user or carries a command out. The device keeps its files.
    ///
    /// - Parameters:
    ///   - words: the command; empty: none.
    ///   - lineCount: how many lines the program may print before it is killed. It is killed sooner if it is done.
    func crash(during words: [String] = [], afterLines lineCount: Int = 0) async throws {
        let (process, lines) = state.withLock { ($0.process, $0.lines) }
        if !words.isEmpty { try write(words) }
        var count = 0
        while count < lineCount, let line = await lines.first(where: { _ in true }) {
            take(line)
            count = line == "ok" || line.hasPrefix("error ") ? lineCount : count + 1
        }
        guard let process, process.isRunning else { throw NeverHappened(description: "\(name) ended: \(errors)") }
        kill(process.processIdentifier, SIGKILL)
        for await line in lines { take(line) }
        process.waitUntilExit()
        state.withLock { state in
            try? state.input?.close()
            (state.process, state.input) = (nil, nil)
        }
    }

    private static func lines(from handle: FileHandle) -> AsyncStream<String> {
        let (lines, continuation) = AsyncStream.makeStream(of: String.self)
        Thread.detachNewThread {
            var rest = Data()
            while true {
                let data = handle.availableData
                if data.isEmpty { break }
                rest += data
                while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                    continuation.yield(String(decoding: rest[..<end], as: UTF8.self))
                    rest = Data(rest[(end + 1)...])
                }
            }
            continuation.finish()
        }
        return lines
    }

    // MARK: Using it

    /// Types a command, and waits until it has been carried out.
    func type(_ words: String...) async throws { try await ask(words) }

    /// The same.
    ///
    /// - Returns: the answer, if the program has told one.
    @discardableResult
    func ask(_ words: [String]) async throws -> String {
        try write(words)
        var answer = ""
        try await read("the answer to \(words)") { line in
            if line.hasPrefix("error") { throw NeverHappened(description: "\(self.name): \(words): \(line)") }
            if line.hasPrefix("told ") { answer = String(line.dropFirst("told ".count)) }
            return line == "ok"
        }
        return answer
    }

    private func write(_ words: [String]) throws {
        try state.withLock { state in
            try state.input?.write(contentsOf: Data((words.joined(separator: "\t") + "\n").utf8))
        }
    }

    /// Sends and fetches all, and shows what there is then.
    func sync() async throws {
        try await type("sync")
        try await type("show")
    }

    /// Waits until the program shows what is expected.
    func shows(_ what: String, _ condition: (_ items: Items, _ pendingCount: Int) -> Bool) async throws {
        if condition(items, pendingCount) { return }
        try await read(what) { _ in condition(self.items, self.pendingCount) }
    }

    private func read(_ what: String, until isLast: (String) throws -> Bool) async throws {
        for await line in state.withLock({ $0.lines }) {
            take(line)
            if try isLast(line) { return }
        }
        throw NeverHappened(description: "\(name): \(what): it ended, or the time is up; it shows \(items)\n\(errors)")
    }

    private func take(_ line: String) {
        if line.hasPrefix("problem ") { state.withLock { $0.problems.append(line) } }
        let parts = line.split(separator: " ", maxSplits: 2)
        guard parts.count == 3, parts[0] == "data", let pendingCount = Int(parts[1]) else { return }
        do {
            let items = try JSONDecoder().decode(Items.self, from: Data(parts[2].utf8))
            state.withLock { ($0.items, $0.pendingCount) = (items, pendingCount) }
        } catch {
            Issue.record("\(name) shows what is no data: \(line)")
        }
    }
}
