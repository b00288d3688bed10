// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TidemarkDomain
internal import TidemarkLocalPostgres
internal import TidemarkPostgres
internal import TidemarkServer
internal import TidemarkSockets
internal import TidemarkStore

/// A private PostgreSQL that makes every commit durable, with two databases: ours, and the reference's.
final class BenchDatabase {
    static let container = "iCloud.dev.tidemark"
    /// So many records has the zone that the reference reads in pages, and ours as well.
    static let pagedRecordCount = 100_000
    /// Bytes of a record's fields.
    static let recordBytes = 300

    /// Ours.
    let url: String
    let referenceURL: String
    private let postgres: LocalPostgres
    private var isReferencePrepared = false
    private var credentialCount = 0

    static func start(_ bench: Bench) throws -> BenchDatabase {
        let postgres = try LocalPostgres.start(dataDirectory: "\(bench.directory)/postgres", durability: .durable)
        do {
            try PostgresAdministration.execute(
                ["CREATE DATABASE tidemark", "CREATE DATABASE yardstick"], url: postgres.databaseURL("postgres"))
            let database = BenchDatabase(postgres)
            let url = database.url
            _ = try blocking {
                let loop = try EventLoop(name: "migrate")
                defer { loop.stop() }
                return try await Migrator(url: url, loop: loop).migrate()
            }
            return database
        } catch {
            postgres.stop()
            throw error
        }
    }

    private init(_ postgres: LocalPostgres) {
        self.postgres = postgres
        url = postgres.databaseURL("tidemark")
        referenceURL = postgres.databaseURL("yardstick")
    }

    func stop() {
        postgres.stop()
    }

    func prepareReference(_ bench: Bench) throws {
        guard !isReferencePrepared else { return }
        _ = try Yardstick.run(
            bench,
            [
                "transactions", "prepare", "--database", referenceURL, "--records", "\(Self.pagedRecordCount)",
                "--bytes", "\(Self.recordBytes)",
            ], core: nil)
        isReferencePrepared = true
    }

    /// The credential of a new account, which the container knows.
    func makeCredential() throws -> String {
        credentialCount += 1
        let (url, name) = (url, "bench-\(credentialCount)")
        return try blocking {
            let loop = try EventLoop(name: "accounts")
            defer { loop.stop() }
            let storage = try PostgresStorage(url: url, loop: loop, connections: 1)
            do {
                let credential = try await Self.makeCredential(name, in: storage)
                await storage.stop()
                return credential
            } catch {
                await storage.stop()
                throw error
            }
        }
    }

    private static func makeCredential(_ name: String, in storage: PostgresStorage) async throws -> String {
        let admin = AdminStore(storage)
        guard let account = try await admin.createAccount(name) else {
            throw BenchError("There is an account \(name).")
        }
        let credential = Credential.make()
        _ = try await admin.issueCredential(hash: credential.hash, label: "", expiresAt: nil, for: account)
        // A server for production creates no containers; its operator does.
        let now = Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1_000))
        guard
            try await storage.identity(
                credentialHash: credential.hash, container: container, environment: .development,
                createsContainer: true, now: now) != nil
        else { throw BenchError("The container cannot be created.") }
        return credential.text
    }
}
