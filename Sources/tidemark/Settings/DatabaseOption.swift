// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import TidemarkPostgres
internal import TidemarkSockets
internal import TidemarkStore
internal import TidemarkTelemetry

/// Where the database is.
struct DatabaseOption: ParsableArguments {
    @Option(
        name: .customLong("database-url"),
        help: ArgumentHelp(
            "PostgreSQL's URL, in libpq's form. Several hosts are allowed.", discussion: "Or TIDEMARK_DATABASE_URL.",
            valueName: "url"))
    var url: String?

    /// Warns of a password in the option: whoever may list processes sees it.
    func value() throws(CommandError) -> String {
        if let url, PostgresURL.hasPassword(url) {
            printError(
                "Warning: everybody who may list processes can read the password in --database-url. Set "
                    + "TIDEMARK_DATABASE_URL instead, or use a password file (~/.pgpass).")
        }
        return try Setting.required(url, "--database-url")
    }

    /// Runs `work` on the database's accounts, after checking that the database belongs to Tidemark.
    func withAdminStore<Value: Sendable>(
        _ work: @escaping @Sendable (AdminStore) async throws -> Value
    ) throws -> Value {
        try withStorage { storage, _ in try await work(AdminStore(storage)) }
    }

    /// The same for the storage.
    ///
    /// - Parameter brokenOff: the text if a signal ends it.
    func withStorage<Value: Sendable>(
        brokenOff: String? = nil,
        _ work: @escaping @Sendable (PostgresStorage, EventLoop) async throws -> Value
    ) throws -> Value {
        let url = try value()
        Log.writeToStandardError(level: .warning)
        ServingLoop.listenForSignals(saying: brokenOff)
        return try blocking {
            let loop = try EventLoop(name: "admin")
            defer { loop.stop() }
            guard try await Migrator(url: url, loop: loop).isCurrent() else {
                throw CommandError(
                    "The database does not have this version's tables: run `tidemark migrate` with the same database "
                        + "URL first.")
            }
            let storage = try PostgresStorage(url: url, loop: loop, connections: 1, queryTimes: .patient)
            do {
                let value = try await work(storage, loop)
                await storage.stop()
                return value
            } catch {
                await storage.stop()
                throw error
            }
        }
    }
}
