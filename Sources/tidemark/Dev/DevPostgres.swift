// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TidemarkAdmin
internal import TidemarkDomain
internal import TidemarkLocalPostgres
internal import TidemarkPostgres
internal import TidemarkServer
internal import TidemarkService
internal import TidemarkSockets
internal import TidemarkStore

/// The private PostgreSQL of `tidemark dev`, with this version's tables.
struct DevPostgres {
    let url: String
    private let postgres: LocalPostgres
    private let reporter: PostgresReporter
    private static let databaseName = "tidemark"

    static func start(in home: DevHome) throws -> DevPostgres {
        let reporter = PostgresReporter()
        let postgres = try LocalPostgres.start(
            dataDirectory: home.postgres, durability: .durable, onEvent: reporter.report)
        do {
            let url = postgres.databaseURL(databaseName)
            try patiently {
                try createDatabase(in: postgres)
                try blocking {
                    let loop = try EventLoop(name: "migrate")
                    defer { loop.stop() }
                    _ = try await Migrator(url: url, loop: loop).migrate()
                }
            }
            return DevPostgres(url: url, postgres: postgres, reporter: reporter)
        } catch {
            reporter.stop()
            postgres.stop()
            throw error
        }
    }

    func stop() {
        reporter.stop()
        postgres.stop()
    }

    private static func createDatabase(in postgres: LocalPostgres) throws {
        do {
            try PostgresAdministration.execute(
                ["CREATE DATABASE \(PostgresAdministration.quoted(databaseName))"],
                url: postgres.databaseURL("postgres"))
        } catch {
            guard error.code == .statement(.duplicateDatabase) else { throw error }
        }
    }

    private static let attemptsMax = 20
    private static let attemptSpacing = 0.25

    /// PostgreSQL may die at any moment and is started again. Work that failed for that reason, and may be done twice,
    /// is tried again.
    private static func patiently<Value>(_ work: () throws -> Value) throws -> Value {
        for _ in 1..<attemptsMax {
            do {
                return try work()
            } catch {
                guard isPassing(error) else { throw error }
                Thread.sleep(forTimeInterval: attemptSpacing)
            }
        }
        return try work()
    }

    private static func isPassing(_ error: any Error) -> Bool {
        switch error {
        case let error as StorageError: return error.code == .unavailable || error.code == .commitUnknown
        case let error as MigrationError: return error.code == .database
        case let error as PostgresError:
            if case .statement = error.code { return false }
            return error.code != .invalidURL
        default: return false
        }
    }

    // MARK: Accounts

    /// Accounts with valid tokens: those of the last start, as long as their tokens are valid.
    func prepareAccounts(_ home: DevHome) throws -> [DevHome.StoredAccount] {
        let kept = home.readCredentials()
        let url = url
        let accounts = try Self.patiently {
            try blocking {
                let loop = try EventLoop(name: "accounts")
                defer { loop.stop() }
                let storage = try PostgresStorage(
                    url: url, loop: loop, connections: 1, readConnections: 1, queryTimes: .patient)
                do {
                    var accounts: [DevHome.StoredAccount] = []
                    for name in DevHome.accountNames {
                        let token = kept.first { $0.name == name }?.token
                        accounts.append(try await Self.prepare(name, keptToken: token, in: storage))
                    }
                    // The printed container is not a mistyped one.
                    _ = try await AdminStore(storage).createContainer(
                        ContainerKey(identifier: DevHome.container, environment: .development))
                    await storage.stop()
                    return accounts
                } catch {
                    await storage.stop()
                    throw error
                }
            }
        }
        try home.writeCredentials(accounts)
        return accounts
    }

    private static func prepare(
        _ name: String, keptToken: String?, in storage: PostgresStorage
    ) async throws -> DevHome.StoredAccount {
        let admin = AdminStore(storage)
        if let keptToken, try await isGood(Credential(text: keptToken), in: storage) {
            return DevHome.StoredAccount(name: name, token: keptToken)
        }
        if try await admin.account(named: name) == nil { _ = try await admin.createAccount(name) }
        guard let account = try await admin.account(named: name) else {
            throw AdminFailure(
                .refused, "The account \(name) cannot be created. Choose another directory with --data-directory.")
        }
        let credential = Credential.make()
        _ = try await admin.issueCredential(
            hash: credential.hash, label: "tidemark dev", expiresAt: nil, for: account)
        _ = try await isGood(credential, in: storage)
        return DevHome.StoredAccount(name: name, token: credential.text)
    }

    /// Creates the container too.
    private static func isGood(_ credential: Credential, in storage: PostgresStorage) async throws -> Bool {
        try await storage.identity(
            credentialHash: credential.hash, container: DevHome.container, environment: .development,
            containersMax: .max, now: Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1_000))) != nil
    }
}
