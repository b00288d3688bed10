// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import Testing
import TidemarkBytes
import TidemarkCrypto
import TidemarkPostgres
import TidemarkServer
import TidemarkSockets
import TidemarkStore
import TidemarkTestSupport

@testable import TidemarkAdmin

/// A store with two records, of which one names an asset, and an operator who backs it up.
struct BackupPlace {
    typealias Said = (status: TidemarkAdmin.ExitStatus, terminal: RecordingTerminal)

    static let content = Array("the content of an asset".utf8)
    static let key = String(repeating: "5d", count: 32)

    let directory: TestDirectory
    let url: String

    var assets: String { path("assets") }
    var backup: String { path("backup") }
    var keyFile: String { path("master.key") }

    func path(_ name: String) -> String { "\(directory.path)/\(name)" }

    static let template = TestTemplate(name: "backup") { url in
        let loop = try EventLoop(name: "migrate")
        defer { loop.stop() }
        _ = try await Migrator(url: url, loop: loop).migrate()
        let check = Hex.encode(MasterKey(text: key)?.check ?? [])
        let hash = Hex.encode(ContentHash.of(content))
        try PostgresAdministration.execute(
            [
                "UPDATE store SET master_key_check = '\\x\(check)'",
                "INSERT INTO account (name) VALUES ('alice')",
                "INSERT INTO container (identifier, environment) VALUES ('iCloud.test', 1)",
                "INSERT INTO container_user (container_id, account_id) SELECT c.id, a.id FROM container c, account a",
                "INSERT INTO database (container_id, scope, user_id) SELECT container_id, 2, id FROM container_user",
                """
                INSERT INTO zone (database_id, name, created_at, change_number) SELECT id, 'Notes', now(), 2 FROM database
                """,
                """
                INSERT INTO record (database_id, zone_id, change_number, batch_end, created_at, created_by, modified_at,
                                    modified_by, created_by_device, byte_count, is_deleted, name, type, fields)
                SELECT z.database_id, z.id, n, n, now(), 1, now(), 1, '00000000-0000-0000-0000-000000000001', 0, false,
                       'r' || n, 'Note', ''
                  FROM zone z, generate_series(1, 2) AS n
                """,
                """
                INSERT INTO asset (database_id, byte_count, created_at, touched_at, sha256)
                SELECT id, \(content.count), now(), now(), '\\x\(hash)' FROM database
                """,
                "INSERT INTO asset_total (database_id, byte_count) SELECT id, \(content.count) FROM database",
                "INSERT INTO asset_use SELECT database_id, id, 'r1', '\\x\(hash)' FROM zone",
                // As servers keep both.
                "UPDATE zone SET digest_number = -1, byte_count = 2 * (128 + 2 + 4)",
            ], url: url)
        let storage = try PostgresStorage(url: url, loop: loop, connections: 1, queryTimes: .patient)
        do {
            try await AdminStore(storage).mendDigests {}
        } catch {
            await storage.stop()
            throw error
        }
        await storage.stop()
    }

    static func with(_ body: (BackupPlace) async throws -> Void) async throws {
        let directory = try TestDirectory()
        defer { directory.remove() }
        let place = BackupPlace(directory: directory, url: try await TestPostgres.database(template).url)
        try Data((key + "\n").utf8).write(to: URL(fileURLWithPath: place.keyFile))
        try place.writeAsset(content)
        try await body(place)
    }

    /// Where a file of content is below the servers' directory, and below the one of a backup.
    static var assetName: String {
        let name = Hex.encode(ContentHash.of(content))
        return "\(name.prefix(2))/\(name).\(content.count)"
    }

    /// The asset's file in a directory of servers: there is one database.
    func assetFile(in directory: String) throws -> String {
        let names = try FileManager.default.contentsOfDirectory(atPath: directory)
        return "\(directory)/\(try #require(names.first))/\(Self.assetName)"
    }

    func writeAsset(_ bytes: [UInt8]) throws {
        let hash = Hex.encode(ContentHash.of(Self.content))
        let file = "\(assets)/1/\(Self.assetName)"
        try FileManager.default.createDirectory(
            atPath: "\(assets)/1/\(hash.prefix(2))", withIntermediateDirectories: true)
        try Data(bytes).write(to: URL(fileURLWithPath: file))
    }

    /// A second asset, which the record r2 names.
    static let second = Array("the content of another asset".utf8)

    /// Adds the second asset, with its file.
    ///
    /// - Returns: the path of the file.
    func addSecondAsset() throws -> String {
        let hash = Hex.encode(ContentHash.of(Self.second))
        try PostgresAdministration.execute(
            [
                """
                INSERT INTO asset (database_id, byte_count, created_at, touched_at, sha256)
                SELECT id, \(Self.second.count), now(), now(), '\\x\(hash)' FROM database
                """,
                "UPDATE asset_total SET byte_count = byte_count + \(Self.second.count)",
                "INSERT INTO asset_use SELECT database_id, id, 'r2', '\\x\(hash)' FROM zone",
            ], url: url)
        let file = "\(assets)/1/\(hash.prefix(2))/\(hash).\(Self.second.count)"
        try FileManager.default.createDirectory(
            atPath: "\(assets)/1/\(hash.prefix(2))", withIntermediateDirectories: true)
        try Data(Self.second).write(to: URL(fileURLWithPath: file))
        return file
    }

    // MARK: Commands

    func run(_ arguments: String..., url: String? = nil, answers: [String]? = nil) async throws -> Said {
        try await run(arguments, url: url, answers: answers)
    }

    func run(_ arguments: [String], url: String? = nil, answers: [String]? = nil) async throws -> Said {
        let terminal = RecordingTerminal(answers: answers)
        let command = try Admin.parseAsRoot(arguments)
        if let local = command as? any LocalCommand {
            return (await AdminProgram.run(local, terminal: terminal), terminal)
        }
        let variables = ["TIDEMARK_DATABASE_URL": url ?? self.url]
        let admin = try #require(command as? any AdminCommand)
        return (await AdminProgram.run(admin, terminal: terminal, variables: variables), terminal)
    }

    func create(_ more: String..., at name: String = "backup") async throws -> Said {
        try await run(["backup", "create", path(name), "--asset-directory", assets] + more)
    }

    func verify(_ name: String = "backup") async throws -> Said { try await run("backup", "verify", path(name)) }

    /// With the key, into a directory of assets of its own.
    func restore(_ more: String..., to url: String, answers: [String]? = nil) async throws -> Said {
        try await run(
            ["backup", "restore", backup, "--asset-directory", path("restored"), "--master-key-file", keyFile] + more,
            url: url, answers: answers)
    }

    /// Changes one byte in the middle of a file.
    func damage(_ file: String) throws {
        let handle = try #require(FileHandle(forUpdatingAtPath: file))
        defer { try? handle.close() }
        let middle = try handle.seekToEnd() / 2
        try handle.seek(toOffset: middle)
        let byte = try #require(try handle.read(upToCount: 1)?.first)
        try handle.seek(toOffset: middle)
        try handle.write(contentsOf: Data([byte ^ 0x55]))
    }
}
