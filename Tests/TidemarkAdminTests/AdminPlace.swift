// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import Synchronization
import Testing
import TidemarkDomain
import TidemarkServer
import TidemarkService
import TidemarkSockets
import TidemarkStore
import TidemarkTestSupport

@testable import TidemarkAdmin

/// A database with all migrations, and an operator who gives commands on it.
struct AdminPlace {
    static let template = TestTemplate(name: "admin") { url in
        let loop = try EventLoop(name: "migrate")
        defer { loop.stop() }
        _ = try await Migrator(url: url, loop: loop).migrate()
    }

    static let container = ContainerKey(identifier: "iCloud.test", environment: .development)

    let url: String
    let storage: PostgresStorage
    let loop: EventLoop

    var store: AdminStore { AdminStore(storage) }

    /// Runs `body`, and closes what it opened.
    static func run(_ body: (AdminPlace) async throws -> Void) async throws {
        let loop = try EventLoop(name: "admin")
        defer { loop.stop() }
        let url = try await TestPostgres.database(template).url
        let storage = try PostgresStorage(url: url, loop: loop, connections: 2, queryTimes: .patient)
        try await running {
            try await body(AdminPlace(url: url, storage: storage, loop: loop))
        } finally: {
            await storage.stop()
        }
    }

    /// Runs a command line, as the operator "root".
    ///
    /// - Parameter input: what the files have that the command opens.
    func perform(_ arguments: String..., input: String = "") async throws -> (
        status: TidemarkAdmin.ExitStatus, terminal: MemoryTerminal
    ) {
        try await perform(arguments, input: input)
    }

    /// - Parameter hasContainer: whether the container is named.
    func perform(_ arguments: [String], input: String = "", hasContainer: Bool = true) async throws -> (
        status: TidemarkAdmin.ExitStatus, terminal: MemoryTerminal
    ) {
        let container = hasContainer ? ["--container", Self.container.identifier] : []
        let parsed = try Admin.parseAsRoot(arguments + container)
        let command = try #require(parsed as? any AdminCommand)
        let directory = try TestDirectory()
        defer { directory.remove() }
        let terminal = MemoryTerminal(input: input, directory: directory.path)
        let screen = Screen(
            output: command.options.output, isDryRun: command.options.dryRun, isConfirmed: command.options.yes,
            isDebugging: command.options.debug, terminal: terminal)
        let console = console(screen, hasContainer: hasContainer)
        return (await AdminProgram.perform(command, on: console), terminal)
    }

    func console(_ screen: Screen, hasContainer: Bool = true) -> Console {
        Console(
            storage, loop: loop, screen: screen, container: hasContainer ? Self.container.identifier : nil,
            environment: .development,
            operatorIdentity: OperatorIdentity(name: "root", address: "10.0.0.1"))
    }

    /// An account with a private database in the container.
    func user(_ name: String) async throws -> AdminStore.User {
        _ = try await store.createAccount(name)
        _ = try await store.createContainer(Self.container)
        return try #require(
            try await store.user(ofAccount: name, in: Self.container, now: Timestamp(milliseconds: 1_700_000_000_000)))
    }
}

/// A terminal that remembers what was written.
final class MemoryTerminal: OperatorTerminal {
    let hasColor = false
    let canAsk = false
    let hasLocalFiles = true
    private let input: String
    private let directory: String
    private let texts = Mutex((output: "", messages: ""))

    init(input: String, directory: String) {
        self.input = input
        self.directory = directory
    }

    var output: String { texts.withLock { $0.output } }
    var messages: String { texts.withLock { $0.messages } }

    func write(_ text: String) async throws { texts.withLock { $0.output += text } }
    func say(_ text: String) { texts.withLock { $0.messages += text + "\n" } }
    func showProgress(_ text: String?) {}
    func ask(_ question: String) async -> String? { nil }

    func open(_ path: String) throws(AdminFailure) -> InputFile {
        let file = "\(directory)/input"
        do {
            try input.write(toFile: file, atomically: false, encoding: .utf8)
        } catch {
            throw AdminFailure(.fault, "\(error)")
        }
        return try InputFile(path: file)
    }
}
