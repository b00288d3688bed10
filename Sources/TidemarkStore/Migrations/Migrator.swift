// SPDX-License-Identifier: Apache-2.0

internal import TidemarkPostgres
package import TidemarkSockets

/// Brings a database's schema up to what this program needs. Forward only.
///
/// Every step is a transaction of its own under an advisory lock, so that several servers may try at once and a step that
/// fails leaves nothing. Steps that were applied are remembered with their SHA-256: a database that went another way is
/// refused, not guessed at.
package struct Migrator: Sendable {
    private let url: String
    private let loop: EventLoop

    package init(url: String, loop: EventLoop) {
        self.url = url
        self.loop = loop
    }

    /// Applies what is missing.
    ///
    /// - Returns: the names of the steps that were applied now; empty if there was nothing to do.
    package func migrate() async throws(MigrationError) -> [String] {
        try await withConnection { connection throws(PostgresError) in
            try await connection.executeScript("BEGIN; \(Self.lock); \(Self.create); COMMIT")
        }
        var names: [String] = []
        while true {
            let count = try await appliedCount()
            guard count < Migrations.all.count else { return names }
            if try await apply(Migrations.all[count]) { names.append(Migrations.all[count].name) }
        }
    }

    /// Whether the schema is as this program needs it; a server asks before it serves.
    package func isCurrent() async throws(MigrationError) -> Bool {
        let exists = try await withConnection { connection throws(PostgresError) in
            try await !connection.execute([Self.exists()])[0].isEmpty
        }
        guard exists else { return false }
        return try await appliedCount() == Migrations.all.count
    }

    private static let exists = Statement(
        "migration_table", "SELECT 1 FROM pg_tables WHERE schemaname = 'public' AND tablename = 'schema_migration'")

    private static let create = """
        CREATE TABLE IF NOT EXISTS schema_migration (
            number     integer     PRIMARY KEY,
            name       text        NOT NULL,
            checksum   text        NOT NULL,
            applied_at timestamptz NOT NULL DEFAULT now())
        """

    private static let list = Statement(
        "migration_list", "SELECT checksum FROM schema_migration ORDER BY number")

    /// "tide" in ASCII: the same number for all servers.
    private static let lock = "SELECT pg_advisory_xact_lock(1953064037)"

    /// One step and its line in the list, or neither.
    ///
    /// - Returns: false if somebody else was faster: whoever waits for the lock finds the number taken.
    private func apply(_ step: Migration) async throws(MigrationError) -> Bool {
        let record =
            "INSERT INTO schema_migration (number, name, checksum) "
            + "VALUES (\(step.number), '\(step.name)', '\(step.checksum)')"
        do {
            try await withConnection { connection throws(PostgresError) in
                try await connection.executeScript("BEGIN; \(Self.lock); \(record); \(step.sql); COMMIT")
            }
            return true
        } catch {
            if error.isDuplicate { return false }
            throw MigrationError(.step(step.name), detail: error.detail)
        }
    }

    /// How many steps the database has; they must be the first ones of ours, unchanged.
    private func appliedCount() async throws(MigrationError) -> Int {
        let checksums = try await withConnection { connection throws(PostgresError) in
            var checksums: [String] = []
            for row in try await connection.execute([Self.list()])[0] { checksums.append(try row.string(0)) }
            return checksums
        }
        guard checksums.count <= Migrations.all.count else {
            throw MigrationError(.newer, detail: "\(checksums.count) steps, known \(Migrations.all.count)")
        }
        for (checksum, migration) in zip(checksums, Migrations.all) where checksum != migration.checksum {
            throw MigrationError(.different(migration.name))
        }
        return checksums.count
    }

    private func withConnection<Value>(
        _ body: (PostgresConnection) async throws(PostgresError) -> Value
    ) async throws(MigrationError) -> Value {
        do {
            let pool = try PostgresPool(
                url: url, connections: 1, loop: loop, sessionSettings: [("lock_timeout", "60s")],
                applicationName: "tidemark-migrate")
            let result: Result<Value, PostgresError>
            do throws(PostgresError) {
                let lease = try await pool.acquire()
                defer { pool.release(lease) }
                result = .success(try await body(lease.connection))
            } catch {
                result = .failure(error)
            }
            await pool.stop()
            return try result.get()
        } catch {
            throw MigrationError(
                .database, detail: error.debugDescription, isDuplicate: error.code == .statement(.uniqueViolation))
        }
    }
}

/// Why a database could not be brought up to date.
package struct MigrationError: Error, CustomStringConvertible {
    package enum Code: Sendable, Equatable {
        case database
        case step(String)
        case newer
        case different(String)
    }

    package let code: Code
    package let detail: String

    let isDuplicate: Bool

    init(_ code: Code, detail: String = "", isDuplicate: Bool = false) {
        self.code = code
        self.detail = detail
        self.isDuplicate = isDuplicate
    }

    package var description: String {
        switch code {
        case .database:
            "The database cannot be reached or read: check --database-url. \(detail)"
        case .step(let name):
            "Migration \(name) failed and was rolled back. \(detail)"
        case .newer:
            "The database was migrated by a newer version of tidemark: run that version. \(detail)"
        case .different(let name):
            "Migration \(name) was applied to this database in another form: it is not a tidemark release's database."
        }
    }
}
