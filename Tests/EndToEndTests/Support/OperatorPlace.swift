// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkBytes
import TidemarkKit
import TidemarkPostgres
import TidemarkServer
import TidemarkSockets
import TidemarkStore
import TidemarkTLS
import TidemarkTestSupport

/// A migrated database with alice, and `tidemark serve` on it.
struct OperatorPlace {
    let directory: TestDirectory
    let database: TestDatabase
    let server: Program
    let site: Site

    /// A migrated database.
    static let template = TestTemplate(name: "operator") { url in
        let loop = try EventLoop(name: "migrate")
        defer { loop.stop() }
        _ = try await Migrator(url: url, loop: loop).migrate()
    }

    /// - Parameters:
    ///   - keepsAssets: in a directory of the place.
    ///   - keepsKeys: of accounts, with a master key in a file of the place.
    ///   - isEncrypted: by TLS, with a certificate in the directory of the place.
    ///   - descriptors: the server's soft and hard limits, when it begins; nil: those of the tests.
    static func with(
        _ flags: [String] = [], keepsAssets: Bool = false, keepsKeys: Bool = false, isEncrypted: Bool = false,
        descriptors: (soft: Int, hard: Int)? = nil, _ body: (OperatorPlace) async throws -> Void
    ) async throws {
        let directory = try TestDirectory()
        defer { directory.remove() }
        let certificates = try isEncrypted ? makeCertificates(directory) : nil
        let protection =
            certificates.map { ["--certificate", $0.certificateFile, "--private-key", $0.privateKeyFile] }
            ?? ["--plain"]
        let flags =
            flags + protection + (keepsAssets ? ["--asset-directory", "\(directory.path)/assets"] : [])
            + (keepsKeys ? ["--master-key-file", "\(directory.path)/master.key"] : [])
        let database = try await TestPostgres.database(template)
        let token = try makeAccounts(["alice"], url: database.url)[0]
        let (server, port) = try await serve(flags, on: database.url, in: directory, descriptors: descriptors)
        var site = Site(
            url: "\(isEncrypted ? "wss" : "ws")://127.0.0.1:\(port)",
            authorityFile: certificates?.authorityFile ?? "", tokens: ["alice": token])
        site.container = "iCloud.test.operator"
        try await body(OperatorPlace(directory: directory, database: database, server: server, site: site))
        #expect(try await server.stop() == 0)
    }

    /// Starts a server, and returns when it serves.
    ///
    /// - Parameters:
    ///   - url: of its database.
    ///   - descriptors: its soft and hard limits, when it begins; nil: those of the tests.
    /// - Returns: The port is the one for devices.
    static func serve(
        _ flags: [String], on url: String, in directory: TestDirectory, descriptors: (soft: Int, hard: Int)? = nil
    ) async throws -> (server: Program, port: Int) {
        // The program of util-linux becomes the server, as the same process.
        let limiter = descriptors.map { ["--nofile=\($0.soft):\($0.hard)", "\(Program.directory)/tidemark"] }
        let server = try Program(
            "tidemark", (limiter ?? []) + ["serve", "--listen", "127.0.0.1:0"] + flags,
            environment: ["TIDEMARK_DATABASE_URL": url], directory: directory.path,
            path: limiter == nil ? nil : "/usr/bin/prlimit")
        var port = 0
        try await eventually("tidemark serve serves") {
            guard server.isRunning else { throw NeverHappened(description: server.output) }
            port = server.output.firstMatch(of: /serving address=127\.0\.0\.1:(\d+)/).flatMap { Int($0.1) } ?? 0
            return port != 0
        }
        return (server, port)
    }

    private static func makeCertificates(_ directory: TestDirectory) throws -> DevelopmentCertificates {
        try DevelopmentCertificates(
            directory: directory.path, hosts: ["127.0.0.1"], now: Int64(Date().timeIntervalSince1970))
    }

    /// Further accounts at once, without a program for each; returns a credential of each.
    func makeAccounts(_ names: [String]) throws -> [String] { try Self.makeAccounts(names, url: database.url) }

    static func makeAccounts(_ names: [String], url: String) throws -> [String] {
        let credentials = names.map { ($0, Credential.make()) }
        let statements = credentials.map { name, credential in
            """
            WITH made AS (INSERT INTO account (name) VALUES ('\(name)') RETURNING id)
            INSERT INTO credential (account_id, hash) SELECT id, '\\x\(Hex.encode(credential.hash))' FROM made
            """
        }
        try PostgresAdministration.execute(statements, url: url)
        return credentials.map { $0.1.text }
    }

    /// A new operator, without a program for it; returns a credential.
    func makeOperator(_ name: String) throws -> String {
        let credential = Credential.make()
        let statement = """
            WITH made AS (INSERT INTO operator (name, role) VALUES ('\(name)', 1) RETURNING id)
            INSERT INTO operator_credential (operator_id, hash) SELECT id, '\\x\(Hex.encode(credential.hash))' FROM made
            """
        try PostgresAdministration.execute([statement], url: database.url)
        return credential.text
    }

    /// Where a server takes commands of operators; nil: nowhere.
    static func operatorsPort(of server: Program) -> Int? {
        server.output.firstMatch(of: /taking commands of operators address=127\.0\.0\.1:(\d+)/).flatMap { Int($0.1) }
    }

    /// Another account, by the operator's commands; returns a credential of it.
    func makeAccount(_ name: String) async throws -> String {
        #expect(try await admin("accounts", "create", name).status == 0)
        let issued = try await admin("credentials", "create", name)
        return String(try #require(issued.output.split(separator: "\n").first))
    }

    func admin(_ arguments: String...) async throws -> (status: Int32, output: String) {
        try await admin(arguments)
    }

    func admin(_ arguments: [String]) async throws -> (status: Int32, output: String) {
        try await Self.tidemark(["admin"] + arguments, database, directory)
    }

    /// - Parameter limit: how long it may take.
    static func tidemark(
        _ arguments: [String], _ database: TestDatabase, _ directory: TestDirectory,
        within limit: Duration = .seconds(30)
    ) async throws -> (status: Int32, output: String) {
        try await Program.run(
            "tidemark", arguments, environment: ["TIDEMARK_DATABASE_URL": database.url], directory: directory.path,
            within: limit)
    }

    /// - Parameter token: nil: alice's; empty: nobody is signed in.
    func database(_ scope: CKDatabase.Scope = .private, token: String? = nil) -> CKDatabase {
        container(token: token).database(with: scope)
    }

    /// As ``database(_:token:)``: each call is another device.
    func container(token: String? = nil) -> CKContainer {
        let token = token ?? site.tokens["alice"]
        let configuration = TidemarkConfiguration(
            url: URL(string: site.url), token: token,
            certificateAuthorityFile: site.authorityFile.isEmpty ? nil : site.authorityFile,
            defaultContainerIdentifier: site.container)
        let context = CloudContext(containerIdentifier: site.container, configuration: configuration)
        return CKContainer(context: context)
    }

    func write(_ text: String, to name: String) throws -> String {
        let path = "\(directory.path)/\(name)"
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        return path
    }
}
