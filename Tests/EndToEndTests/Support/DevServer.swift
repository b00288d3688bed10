// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import TidemarkTestSupport

/// A running `tidemark dev`.
struct DevServer: Sendable {
    let directory: TestDirectory
    let program: Program
    let site: Site

    private struct Sheet: Decodable {
        struct Account: Decodable {
            let name: String
            let token: String
        }

        let url: String
        let ca: String
        let container: String
        let accounts: [Account]
        let databaseURL: String
    }

    /// - Parameters:
    ///   - port: 0: any free one; else the one that an earlier start had.
    ///   - hosts: names under which others reach it.
    ///   - dataName: of its data directory in `directory`.
    ///   - people: accounts beside alice and bob, which must be new.
    static func start(
        in directory: TestDirectory, port: Int = 0, hosts: [String] = [], dataName: String = "data",
        with people: [String] = []
    ) async throws -> DevServer {
        let ready = "\(directory.path)/ready.json"
        let program = try Program(
            "tidemark",
            [
                "dev", "--port", "\(port)", "--data-directory", "\(directory.path)/\(dataName)", "--ready-file", ready,
                "--verbose",
            ] + hosts.flatMap { ["--host", $0] }, directory: directory.path)
        try await eventually("tidemark dev is ready", within: .seconds(60)) {
            guard program.isRunning else { throw NeverHappened(description: program.output) }
            return FileManager.default.fileExists(atPath: ready)
        }
        let data = FileManager.default.contents(atPath: ready) ?? Data()
        let sheet = try JSONDecoder().decode(Sheet.self, from: data)
        var tokens = Dictionary(uniqueKeysWithValues: sheet.accounts.map { ($0.name, $0.token) })
        if !people.isEmpty {
            tokens.merge(zip(people, try OperatorPlace.makeAccounts(people, url: sheet.databaseURL))) { $1 }
        }
        return DevServer(
            directory: directory, program: program,
            site: Site(url: sheet.url, authorityFile: sheet.ca, tokens: tokens, container: sheet.container))
    }

    /// Runs `body` with a server of its own.
    static func with(_ body: (DevServer) async throws -> Void) async throws {
        let directory = try TestDirectory()
        defer { directory.remove() }
        let server = try await start(in: directory)
        try await body(server)
        try await server.program.stop()
    }

    /// The one server of all tests that do not harm it, with a container of the caller's own. carol has an account there too.
    static func shared() async throws -> Site {
        var site = try await sharedStart.value.site
        site.container = "iCloud.test.\(UUID().uuidString)"
        return site
    }

    private static let sharedStart = Task { () throws -> DevServer in
        let directory = try TestDirectory()
        let server = try await start(in: directory, with: ["carol"])
        running.withLock { $0 = server }
        atexit { DevServer.stopShared() }
        return server
    }

    private static let running = Mutex<DevServer?>(nil)

    private static func stopShared() {
        guard let server = running.withLock({ $0 }) else { return }
        server.program.signal(SIGINT)
        // Bounded: this is the end of the process.
        for _ in 0..<500 where server.program.isRunning { usleep(10_000) }
        server.program.signal(SIGKILL)
        server.directory.remove()
    }
}
