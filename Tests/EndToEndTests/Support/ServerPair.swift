// SPDX-License-Identifier: Apache-2.0

import Foundation
import TidemarkBytes
import TidemarkDomain
import TidemarkServer
import TidemarkSockets
import TidemarkStore
import TidemarkTLS
import TidemarkTestSupport

/// Two `tidemark serve` processes on one database, as an operator starts them.
struct ServerPair: Sendable {
    let databaseURL: String
    let directory: TestDirectory
    let first: Program
    let second: Program
    /// The same accounts and container, by way of either server.
    let sites: [Site]

    /// Where both keep assets.
    var assetDirectory: String { "\(directory.path)/assets" }

    /// Runs `body` with servers and a database of its own.
    ///
    /// - Parameter databaseURL: of an empty database; nil: one of the tests' PostgreSQL.
    static func with(
        _ arguments: [String] = [], databaseURL: String? = nil, _ body: (ServerPair) async throws -> Void
    ) async throws {
        let directory = try TestDirectory()
        defer { directory.remove() }
        let url = if let databaseURL { databaseURL } else { try await TestPostgres.database().url }
        let migrated = try await tidemark(["migrate"], url, directory)
        guard migrated.status == 0 else { throw NeverHappened(description: migrated.output) }
        var tokens: [String: String] = [:]
        for account in ["alice", "bob"] {
            _ = try await tidemark(["admin", "accounts", "create", account], url, directory)
            tokens[account] = try await issue(account, url, directory)
        }
        let container = "iCloud.test.pair"
        try await createContainer(container, token: tokens["alice"] ?? "", url)
        let certificates = try DevelopmentCertificates(
            directory: directory.path, hosts: ["localhost", "127.0.0.1"], now: Int64(Date().timeIntervalSince1970))
        var programs: [Program] = []
        var sites: [Site] = []
        for index in 0..<2 {
            let named = url + (url.contains("?") ? "&" : "?") + "application_name=server-\(index)"
            let program = try Program(
                "tidemark",
                [
                    "serve", "--listen", "127.0.0.1:0", "--certificate", certificates.certificateFile, "--private-key",
                    certificates.privateKeyFile, "--asset-directory", "\(directory.path)/assets",
                ] + arguments, environment: ["TIDEMARK_DATABASE_URL": named], directory: directory.path)
            programs.append(program)
            var port: Int?
            try await eventually("tidemark serve serves") {
                guard program.isRunning else { throw NeverHappened(description: program.output) }
                port = program.output.firstMatch(of: /serving address=127\.0\.0\.1:(\d+)/).flatMap { Int($0.1) }
                return port != nil
            }
            sites.append(
                Site(
                    url: "wss://127.0.0.1:\(port ?? 0)", authorityFile: certificates.authorityFile, tokens: tokens,
                    container: container))
        }
        try await body(
            ServerPair(
                databaseURL: url, directory: directory, first: programs[0], second: programs[1], sites: sites))
        for program in programs { try await program.stop() }
    }

    /// Runs an administrator's command on the database.
    func admin(_ arguments: String...) async throws -> (status: Int32, output: String) {
        try await admin(arguments)
    }

    func admin(_ arguments: [String]) async throws -> (status: Int32, output: String) {
        try await Self.tidemark(["admin"] + arguments, databaseURL, directory)
    }

    /// A further token.
    func issue(_ account: String, expires: String? = nil) async throws -> String {
        try await Self.issue(account, databaseURL, directory, expires: expires)
    }

    private static func tidemark(
        _ arguments: [String], _ url: String, _ directory: TestDirectory
    ) async throws -> (status: Int32, output: String) {
        try await Program.run(
            "tidemark", arguments, environment: ["TIDEMARK_DATABASE_URL": url], directory: directory.path)
    }

    private static func issue(
        _ account: String, _ url: String, _ directory: TestDirectory, expires: String? = nil
    ) async throws -> String {
        let expiry = expires.map { ["--expires", $0] } ?? []
        let issued = try await tidemark(["admin", "credentials", "create", account] + expiry, url, directory)
        guard let token = issued.output.firstMatch(of: /tidemark_[A-Za-z0-9_-]+/) else {
            throw NeverHappened(description: issued.output)
        }
        return String(token.0)
    }

    /// `tidemark serve` creates no containers for clients.
    private static func createContainer(_ name: String, token: String, _ url: String) async throws {
        let loop = try EventLoop(name: "test")
        defer { loop.stop() }
        let storage = try PostgresStorage(url: url, loop: loop, connections: 1, queryTimes: .patient)
        _ = try await storage.identity(
            credentialHash: Credential(text: token).hash, container: name, environment: .development,
            containersMax: .max, now: Timestamp(milliseconds: loop.wallClockMilliseconds))
        await storage.stop()
    }
}
