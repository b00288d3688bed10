// SPDX-License-Identifier: Apache-2.0

import TidemarkLocalPostgres
import TidemarkPostgres
import TidemarkTestSupport

/// `tidemark serve` behind a ``CutLine``, where it, its connection or PostgreSQL is killed.
final class CutServer: @unchecked Sendable {
    // NB: unchecked: the one task of a test uses it.

    enum Victim: String, CaseIterable, Sendable {
        case server, connection, postgres
    }

    let victim: Victim
    let line: CutLine
    private let directory: TestDirectory
    /// Its own; nil: that of all tests, which must live.
    private let postgres: LocalPostgres?
    private let tokens: [String: String]
    private var program: Program?
    private(set) var site: Site

    private init(
        _ victim: Victim, _ line: CutLine, _ directory: TestDirectory, _ postgres: LocalPostgres?,
        tokens: [String: String]
    ) {
        (self.victim, self.line, self.directory, self.postgres) = (victim, line, directory, postgres)
        self.tokens = tokens
        site = Site(url: "", authorityFile: "", tokens: tokens)
    }

    /// Runs `body` with a server and a database of its own, with alice and bob.
    static func with(_ victim: Victim, _ body: (CutServer) async throws -> Void) async throws {
        guard victim == .postgres else {
            let database = try await TestPostgres.database(OperatorPlace.template)
            return try await with(victim, nil, database.url, body)
        }
        try await withServer { postgres, _, _ in
            let url = postgres.databaseURL("postgres")
            try await OperatorPlace.template.prepare(url)
            try await with(victim, postgres, url, body)
        }
    }

    private static func with(
        _ victim: Victim, _ postgres: LocalPostgres?, _ url: String, _ body: (CutServer) async throws -> Void
    ) async throws {
        let directory = try TestDirectory()
        defer { directory.remove() }
        let names = ["alice", "bob"]
        let tokens = Dictionary(uniqueKeysWithValues: zip(names, try OperatorPlace.makeAccounts(names, url: url)))
        let line = try await CutLine.start(to: url, in: directory)
        defer { line.stop() }
        let server = CutServer(victim, line, directory, postgres, tokens: tokens)
        try await server.start()
        try await body(server)
        try await server.program?.stop()
    }

    private func start() async throws {
        // Few connections, because the test has two ends of each.
        let program = try Program(
            "tidemark",
            [
                "serve", "--listen", "127.0.0.1:0", "--plain", "--create-containers", "--loops", "1",
                "--database-connections", "3",
            ], environment: ["TIDEMARK_DATABASE_URL": line.url], directory: directory.path)
        var port = 0
        try await eventually("tidemark serve serves") {
            guard program.isRunning else { throw NeverHappened(description: program.output) }
            port = program.output.firstMatch(of: /serving address=127\.0\.0\.1:(\d+)/).flatMap { Int($0.1) } ?? 0
            return port != 0
        }
        self.program = program
        site = Site(url: "ws://127.0.0.1:\(port)", authorityFile: "", tokens: tokens)
        site.container = "iCloud.test.cut"
    }

    // MARK: Killing

    /// Kills the victim where it stands. Then everything passes again, and what was killed has been started again.
    func killVictim() async throws {
        switch victim {
        case .server:
            try await program?.killNow()
            try await eventually("PostgreSQL is through with the dead server") { await line.linkCount == 0 }
            await line.resume()
            try await start()
        case .connection: await line.resume()
        case .postgres: try await killPostgres()
        }
    }

    private func killPostgres() async throws {
        guard let postgres else { throw NeverHappened(description: "this PostgreSQL is that of all tests") }
        let killed = postgres.processID
        try await blocking { postgres.killNow() }
        await line.resume(endingAll: true)
        let url = postgres.databaseURL("postgres")
        try await eventually("PostgreSQL serves again", within: .seconds(60)) {
            guard ![0, killed].contains(postgres.processID) else { return false }
            return try await blocking { (try? PostgresAdministration.execute(["SELECT 1"], url: url)) != nil }
        }
    }
}
