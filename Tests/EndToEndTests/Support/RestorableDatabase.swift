// SPDX-License-Identifier: Apache-2.0

import Foundation
import TidemarkLocalPostgres
import TidemarkPostgres
import TidemarkTestSupport

/// A database that goes back to its one backup.
protocol RestorableDatabase {
    /// For libpq; another one after a restore.
    var url: String { get }
    /// Whether a backup has assets too, and a restore renews the incarnation.
    var isWhole: Bool { get }
    func backUp() async throws
    /// Nobody is connected.
    func restore() async throws
    func stop()
}

extension RestorableDatabase {
    var isWhole: Bool { false }
}

/// How an operator makes backups.
enum BackupMethod: CaseIterable {
    /// `pg_dump` and `pg_restore`.
    case dump
    /// Copies of PostgreSQL's files and the log of all writes.
    case pointInTime
    /// `tidemark admin backup`.
    case backup

    /// - Parameter directory: for the backups.
    func makeDatabase(_ directory: TestDirectory) async throws -> any RestorableDatabase {
        switch self {
        case .dump: try await DumpedDatabase(directory)
        case .pointInTime: try ArchivedDatabase(directory)
        case .backup: try await BackedUpDatabase(directory)
        }
    }
}

private func run(_ directory: TestDirectory, _ command: String...) async throws {
    let result = try await Program.run(
        command[0], command, directory: directory.path, path: "/usr/bin/env", within: .seconds(120))
    guard result.status == 0 else { throw NeverHappened(description: "\(command): \(result.output)") }
}

/// By `pg_dump` and `pg_restore`.
private final class DumpedDatabase: RestorableDatabase {
    private let directory: TestDirectory
    let url: String
    private var dump: String { "\(directory.path)/backup.dump" }

    init(_ directory: TestDirectory) async throws {
        self.directory = directory
        url = try await TestPostgres.database().url
    }

    func backUp() async throws {
        try await run(directory, "pg_dump", "--format=custom", "--file=\(dump)", "--dbname=\(url)")
    }

    func restore() async throws {
        try await run(
            directory, "pg_restore", "--clean", "--if-exists", "--single-transaction", "--dbname=\(url)", dump)
    }

    func stop() {}
}

/// By `tidemark admin backup`, with the assets and the master key that are in the directory.
private final class BackedUpDatabase: RestorableDatabase {
    private let directory: TestDirectory
    private(set) var url: String
    private var backup: String { "\(directory.path)/backup" }
    private var assets: String { "\(directory.path)/assets" }

    init(_ directory: TestDirectory) async throws {
        self.directory = directory
        url = try await TestPostgres.database().url
    }

    var isWhole: Bool { true }

    func backUp() async throws {
        try await tidemark("create", backup, "--asset-directory", assets, url: url)
        try await tidemark("verify", backup, url: url)
    }

    /// Into a new database, as an operator does who keeps the old one.
    func restore() async throws {
        let empty = try await TestPostgres.database().url
        let key = "\(directory.path)/master.key"
        let hasKey = FileManager.default.fileExists(atPath: key)
        let keys = hasKey ? ["--master-key-file", key] : ["--without-keys", "--yes"]
        try await tidemark(["restore", backup, "--asset-directory", assets] + keys, url: empty)
        url = empty
    }

    func stop() {}

    private func tidemark(_ arguments: String..., url: String) async throws { try await tidemark(arguments, url: url) }

    private func tidemark(_ arguments: [String], url: String) async throws {
        let result = try await Program.run(
            "tidemark", ["admin", "backup"] + arguments, environment: ["TIDEMARK_DATABASE_URL": url],
            directory: directory.path, within: .seconds(300))
        guard result.status == 0 else { throw NeverHappened(description: "\(arguments): \(result.output)") }
    }
}

/// A PostgreSQL of its own, of which there is a copy of the files from the beginning, and since then all that was written: by
/// point-in-time recovery.
private final class ArchivedDatabase: RestorableDatabase {
    private let directory: TestDirectory
    private var server: LocalPostgres
    private var home: String { "\(directory.path)/postgres" }

    var url: String { server.databaseURL("postgres") }

    init(_ directory: TestDirectory) throws {
        self.directory = directory
        let home = "\(directory.path)/postgres"
        server = try LocalPostgres.start(dataDirectory: home, durability: .fast)
        server.stop()
        // In the data directory, which is where PostgreSQL runs its commands and may write.
        try Self.configure(home, "archive_mode = on", "archive_command = 'mkdir -p archive && cp %p archive/%f'")
        try Self.copy("\(home)/data", to: "\(directory.path)/base")
        server = try LocalPostgres.start(dataDirectory: home, durability: .fast)
    }

    func backUp() async throws {
        try PostgresAdministration.execute(["SELECT pg_create_restore_point('yesterday')"], url: url)
    }

    func restore() async throws {
        // What is full, and what was begun, is archived before it ends.
        try PostgresAdministration.execute(["SELECT pg_switch_wal()"], url: url)
        server.stop()
        let files = FileManager.default
        try files.moveItem(atPath: "\(home)/data", toPath: "\(directory.path)/lost")
        try Self.copy("\(directory.path)/base", to: "\(home)/data")
        try files.moveItem(atPath: "\(directory.path)/lost/archive", toPath: "\(home)/data/archive")
        try Self.configure(
            home, "restore_command = 'cp archive/%f %p'", "recovery_target_name = 'yesterday'",
            "recovery_target_action = 'promote'")
        files.createFile(atPath: "\(home)/data/recovery.signal", contents: nil)
        chmod("\(home)/data/recovery.signal", 0o666)
        server = try LocalPostgres.start(dataDirectory: home, durability: .fast)
        try await eventually("PostgreSQL has recovered", within: .seconds(60)) {
            let question = "DO $$ BEGIN IF pg_is_in_recovery() THEN RAISE EXCEPTION 'not yet'; END IF; END $$"
            return (try? PostgresAdministration.execute([question], url: self.url)) != nil
        }
    }

    func stop() { server.stop() }

    private static func configure(_ home: String, _ lines: String...) throws {
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: "\(home)/data/postgresql.conf"))
        try file.seekToEnd()
        try file.write(contentsOf: Data((lines.joined(separator: "\n") + "\n").utf8))
        try file.close()
    }

    /// With owners and permissions, which PostgreSQL insists on.
    private static func copy(_ from: String, to: String) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/cp")
        process.arguments = ["-a", from, to]
        try process.start()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw NeverHappened(description: "cp \(from) \(to)") }
    }
}
