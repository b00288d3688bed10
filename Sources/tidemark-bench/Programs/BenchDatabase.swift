// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TidemarkDomain
internal import TidemarkLocalPostgres
internal import TidemarkPostgres
internal import TidemarkServer
internal import TidemarkSockets
internal import TidemarkStore

/// A private PostgreSQL that makes every commit durable, with two databases: ours and the reference's.
final class BenchDatabase {
    static let container = "iCloud.dev.tidemark"
    /// The number of records in the zone that the reference and ours read in pages.
    static let pagedRecordCount = 100_000
    /// Bytes of a record's fields.
    static let recordBytes = 300

    /// The URL of our database.
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

    /// The file to which PostgreSQL writes its log.
    var logPath: String { postgres.logPath }

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

    /// The credential of a new account, with a user in the container.
    func makeCredential() throws -> String {
        try makeAccount().credential
    }

    /// A new account, with a user in the container.
    func makeAccount() throws -> BenchAccount {
        try makeAccounts(1)[0]
    }

    /// New accounts, each with a user in the container.
    func makeAccounts(_ count: Int, container: String = BenchDatabase.container) throws -> [BenchAccount] {
        let first = credentialCount + 1
        credentialCount += count
        let names = (first..<first + count).map { "bench-\($0)" }
        return try withStorage { storage in
            var accounts: [BenchAccount] = []
            for name in names { accounts.append(try await BenchAccount.make(name, container: container, in: storage)) }
            return accounts
        }
    }

    /// Works on the store without a server. Blocks.
    func withStorage<Value: Sendable>(
        _ body: @escaping @Sendable (PostgresStorage) async throws -> Value
    ) throws -> Value {
        let url = url
        return try blocking {
            let loop = try EventLoop(name: "store")
            defer { loop.stop() }
            let storage = try PostgresStorage(
                url: url, loop: loop, connections: 1, queryTimes: QueryTimes(within: Bench.limits))
            let result: Result<Value, any Error>
            do {
                result = .success(try await body(storage))
            } catch {
                result = .failure(error)
            }
            await storage.stop()
            return try result.get()
        }
    }

    /// Runs SQL without server and store.
    func execute(_ statements: String...) throws {
        try PostgresAdministration.execute(statements, url: url)
    }

    /// Makes `count` records from the only one in a zone. They are equal, and have the names `r00000001` and so on.
    /// Each is a change of its own, as if they had been saved one after the other.
    ///
    /// - Parameter zone: the only zone of that name in the store.
    func multiply(inZone zone: String, count: Int) throws {
        try execute(
            """
            INSERT INTO record (database_id, zone_id, change_number, batch_end, created_at, created_by, modified_at,
                                modified_by, created_by_device, byte_count, is_deleted, name, type, parent, fields)
            SELECT r.database_id, r.zone_id, r.change_number + n, r.change_number + n, r.created_at, r.created_by,
                   r.modified_at, r.modified_by, r.created_by_device, r.byte_count, false, 'r' || lpad(n::text, 8, '0'),
                   r.type, NULL, r.fields
              FROM zone z JOIN record r ON r.database_id = z.database_id AND r.zone_id = z.id,
                   generate_series(1, \(count)) AS n
             WHERE z.name = '\(zone)'
            """,
            "UPDATE zone SET change_number = change_number + \(count) WHERE name = '\(zone)'",
            "VACUUM ANALYZE record", "CHECKPOINT")
    }
}

/// An account whose devices measure.
struct BenchAccount: Sendable {
    let credential: String
    let user: UserID
    /// By which others name the owner of its zones.
    let recordName: String
    /// The private one.
    let database: DatabaseID

    static func make(_ name: String, container: String, in storage: PostgresStorage) async throws -> BenchAccount {
        let admin = AdminStore(storage)
        guard let account = try await admin.createAccount(name) else {
            throw BenchError("There is an account \(name).")
        }
        let credential = Credential.make()
        _ = try await admin.issueCredential(hash: credential.hash, label: "", expiresAt: nil, for: account)
        // A production server creates no containers, so its operator does.
        let now = Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1_000))
        guard
            let identity = try await storage.identity(
                credentialHash: credential.hash, container: container, environment: .development,
                containersMax: .max, now: now)
        else { throw BenchError("The container cannot be created.") }
        return BenchAccount(
            credential: credential.text, user: identity.user, recordName: identity.userRecordName,
            database: identity.privateDatabase)
    }
}
