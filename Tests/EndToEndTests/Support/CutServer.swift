// SPDX-License-Identifier: Apache-2.0

import Foundation
import TidemarkPostgres
import TidemarkSockets
import TidemarkTestSupport

/// `tidemark serve` on a database whose triggers stop at a statement, so that the server or its connection dies there.
///
/// Triggers count the statements that write: each one twice, as it begins and as it ends. The count is a sequence,
/// which no rollback takes back.
final class CutServer: @unchecked Sendable {
    // NB: unchecked: the one task of a test uses it.
    private let directory: TestDirectory
    private let database: TestDatabase
    private let tokens: [String: String]
    /// Holds the lock for which a statement waits that is to be cut.
    private let gate: PostgresConnection
    private var program: Program?
    private(set) var site: Site

    private static let applicationName = "cut-server"
    /// All that is written for shares, and with them.
    private static let tables = [
        "zone", "record", "request_memory", "share", "share_participant", "share_link", "share_link_target",
        "shared_zone",
    ]

    /// Of the advisory lock.
    private static let gateKey = 1_128_617_044

    private init(
        _ directory: TestDirectory, _ database: TestDatabase, tokens: [String: String], gate: PostgresConnection
    ) {
        (self.directory, self.database, self.tokens, self.gate) = (directory, database, tokens, gate)
        site = Site(url: "", authorityFile: "", tokens: tokens)
    }

    /// Runs `body` with a server and a database of its own, with alice and bob.
    static func with(_ body: (CutServer) async throws -> Void) async throws {
        let directory = try TestDirectory()
        defer { directory.remove() }
        let database = try await TestPostgres.database(OperatorPlace.template)
        let names = ["alice", "bob"]
        let tokens = try OperatorPlace.makeAccounts(names, database)
        let loop = try EventLoop(name: "cut")
        defer { loop.stop() }
        let pool = try PostgresPool(
            url: database.url, connections: 1, sharedConnections: 0, loop: loop, applicationName: "gate")
        let lease = try await pool.acquire()
        let server = CutServer(
            directory, database, tokens: Dictionary(uniqueKeysWithValues: zip(names, tokens)),
            gate: lease.connection)
        try await server.execute(makingTriggers)
        try await server.start()
        try await body(server)
        try await server.program?.stop()
        pool.release(lease)
        await pool.stop()
    }

    private static var makingTriggers: [String] {
        let function = """
            CREATE FUNCTION cut_here() RETURNS trigger LANGUAGE plpgsql SET lock_timeout = 0 AS $$
            DECLARE target cut_at%ROWTYPE;
            BEGIN
                SELECT * INTO target FROM cut_at;
                IF target.number = 0 THEN RETURN NULL; END IF;
                IF nextval('cut_count') <> target.number THEN RETURN NULL; END IF;
                IF target.kills THEN PERFORM pg_terminate_backend(pg_backend_pid()); END IF;
                PERFORM pg_advisory_xact_lock_shared(\(gateKey));
                RETURN NULL;
            END $$
            """
        let triggers = tables.flatMap { table in
            ["BEFORE", "AFTER"].map { moment in
                """
                CREATE TRIGGER cut_\(moment.lowercased()) \(moment) INSERT OR UPDATE OR DELETE ON \(table)
                    FOR EACH STATEMENT EXECUTE FUNCTION cut_here()
                """
            }
        }
        return [
            "CREATE SEQUENCE cut_count", "CREATE TABLE cut_at (number bigint NOT NULL, kills boolean NOT NULL)",
            "INSERT INTO cut_at VALUES (0, false)", function,
        ] + triggers
    }

    private func execute(_ statements: [String]) async throws {
        let url = database.url
        try await blocking { try PostgresAdministration.execute(statements, url: url) }
    }

    private func holds(_ condition: String) async -> Bool {
        let question = "DO $$ BEGIN IF NOT (\(condition)) THEN RAISE EXCEPTION 'no'; END IF; END $$"
        do {
            try await execute([question])
            return true
        } catch {
            return false
        }
    }

    private func start() async throws {
        let program = try Program(
            "tidemark", ["serve", "--listen", "127.0.0.1:0", "--plain", "--create-containers"],
            environment: ["TIDEMARK_DATABASE_URL": "\(database.url)&application_name=\(Self.applicationName)"],
            directory: directory.path)
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

    // MARK: Cutting

    /// From now on statements are counted.
    ///
    /// - Parameter killsConnection: whether the connection that comes to that statement ends there; else it waits.
    func cut(at number: Int, killsConnection: Bool) async throws {
        try await gate.executeScript("SELECT pg_advisory_lock(\(Self.gateKey))")
        try await execute([
            "ALTER SEQUENCE cut_count RESTART",
            "UPDATE cut_at SET number = \(number), kills = \(killsConnection)",
        ])
    }

    /// Whether so many statements have begun or ended since.
    func hasComeTo(_ number: Int) async -> Bool {
        await holds("(SELECT last_value >= \(number) AND is_called FROM cut_count)")
    }

    /// From now on none are counted, and what waits goes on.
    func stopCutting() async throws {
        try await execute(["UPDATE cut_at SET number = 0"])
        try await gate.executeScript("SELECT pg_advisory_unlock_all()")
    }

    /// Kills the server where it waits, and starts another when PostgreSQL has done what it had been sent.
    func killAndRestart() async throws {
        try await program?.killNow()
        try await stopCutting()
        try await eventually("nothing of the dead server runs") {
            await holds(
                """
                NOT EXISTS (SELECT FROM pg_stat_activity
                    WHERE datname = current_database() AND application_name = '\(Self.applicationName)')
                """)
        }
        try await start()
    }
}
