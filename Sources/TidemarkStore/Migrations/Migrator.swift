// SPDX-License-Identifier: Apache-2.0

internal import TidemarkPostgres
package import TidemarkSockets

/// Brings a database's schema up to the version of this program. Forward only.
///
/// Every step is a transaction of its own under an advisory lock. So several servers may try at once, and a failed step
/// leaves nothing. Applied steps are recorded with their SHA-256. A database with other steps is refused rather than
/// guessed at.
package struct Migrator: Sendable {
    /// The longest wait for a step's answer; enough for an index on a large table. Waiting for other migrators counts.
    private static let stepTimeMax = Duration.seconds(6 * 3_600)

    private let url: String
    private let loop: EventLoop
    private let tableLockTimeMax: Duration
    /// Whether the caller restores a backup into the database. Nobody else may use it then.
    private let isRestoring: Bool
    /// PostgreSQL must not be older.
    package var oldestVersion = PostgresVersion.oldest

    /// - Parameter tableLockTimeMax: how long a step waits for a table's lock. Everybody who needs the table meanwhile
    ///   waits behind the step. So beside a backup that takes all night, the step is given up rather than the service.
    package init(
        url: String, loop: EventLoop, tableLockTimeMax: Duration = .seconds(5), isRestoring: Bool = false
    ) {
        self.isRestoring = isRestoring
        self.url = url
        self.loop = loop
        self.tableLockTimeMax = tableLockTimeMax
    }

    /// Applies the missing steps.
    ///
    /// - Returns: the names of the steps that were applied now; empty if none was missing.
    package func migrate() async throws(MigrationError) -> [String] {
        try await checkVersion()
        try await checkRestore()
        try await withConnection { connection throws(PostgresError) in
            try await connection.executeScript(
                "BEGIN; \(Self.lock); \(Self.create); COMMIT", timeout: Self.stepTimeMax)
        }
        var names: [String] = []
        while true {
            let count = try await appliedCount()
            guard count < Migrations.all.count else { return names }
            if try await apply(Migrations.all[count]) { names.append(Migrations.all[count].name) }
        }
    }

    /// A server asks before it serves.
    ///
    /// - Throws: `tooOld` if PostgreSQL cannot do what Tidemark needs.
    package func checkVersion() async throws(MigrationError) {
        let version = try await withConnection { connection throws(PostgresError) in
            try await connection.run(sql.migrations.version()).rows.first
        }
        if let version, PostgresVersion(version) < oldestVersion {
            throw MigrationError(.tooOld(PostgresVersion(version), oldest: oldestVersion))
        }
    }

    /// A server asks before it serves.
    ///
    /// - Throws: `restoring` if a restore into the database has begun, and has not come to its end.
    package func checkRestore() async throws(MigrationError) {
        if try await withConnection(isRestoredInto) { throw MigrationError(.restoring) }
    }

    /// Whether the schema is the one that this program needs. A server asks before it serves.
    ///
    /// - Throws: `newer` for a database that a newer program has migrated: it may have lost what this one needs. A server that
    ///   serves already goes on.
    package func isCurrent() async throws(MigrationError) -> Bool {
        let checksums = try await withConnection { connection throws(PostgresError) -> [String]? in
            guard try await hasSteps(connection), try await !isRestoredInto(connection) else { return nil }
            return try await connection.run(sql.migrations.list()).rows
        }
        guard let checksums else { return false }
        return try Self.appliedCount(checksums) == Migrations.all.count
    }

    /// Whether somebody else restores a backup into the database, or has begun to.
    private func isRestoredInto(_ connection: PostgresConnection) async throws(PostgresError) -> Bool {
        guard !isRestoring else { return false }
        return try await connection.run(sql.migrations.restoring()).rows == [true]
    }

    /// Whether any step was ever applied.
    func hasSteps() async throws(MigrationError) -> Bool { try await withConnection(hasSteps) }

    private func hasSteps(_ connection: PostgresConnection) async throws(PostgresError) -> Bool {
        try await !connection.run(sql.migrations.exists()).isEmpty
    }

    /// The steps that the database has, whatever they are.
    func applied() async throws(MigrationError) -> [MigrationStep.Applied] {
        guard try await hasSteps() else { return [] }
        return try await withConnection { connection throws(PostgresError) in
            try await connection.run(sql.migrations.steps()).rows
        }
    }

    /// For the first step.
    static let create = """
        CREATE TABLE IF NOT EXISTS schema_migration (
            number     integer     PRIMARY KEY,
            name       text        NOT NULL,
            checksum   text        NOT NULL,
            applied_at timestamptz NOT NULL DEFAULT now())
        """

    /// "tide" in ASCII, the same number for all servers. Nobody waits behind this lock but other migrators, so it is
    /// waited for as long as their steps take.
    private static let lock = """
        SET LOCAL lock_timeout = 0; SELECT pg_advisory_xact_lock(1953064037); SET LOCAL lock_timeout TO DEFAULT
        """

    /// Applies one step and records it, or does neither.
    ///
    /// - Returns: false if another migrator was faster: after the wait for the lock, the step's number is taken.
    private func apply(_ step: Migration) async throws(MigrationError) -> Bool {
        do {
            try await withConnection { connection throws(PostgresError) in
                try await connection.executeScript(script(of: step), timeout: Self.stepTimeMax)
            }
            return true
        } catch {
            if error.cause?.code == .statement(.uniqueViolation) { return false }
            throw MigrationError(Self.code(of: error, step), detail: error.detail, cause: error.cause)
        }
    }

    /// A step as a transaction that also records it.
    func script(of step: Migration) -> String {
        """
        BEGIN;
        \(Self.lock);
        INSERT INTO schema_migration (number, name, checksum)
        VALUES (\(step.number), '\(step.name)', '\(step.checksum)');
        \(step.sql)
        ;
        COMMIT;

        """
    }

    /// What is known of a step that failed or got no answer.
    private static func code(of error: MigrationError, _ step: Migration) -> MigrationError.Code {
        guard let cause = error.cause else { return error.code }
        if cause.isCommitOutcomeUnknown { return .unanswered(step.name) }
        switch cause.code {
        case .statement(let state) where state == .lockNotAvailable: return .locked(step.name)
        case .statement: return .step(step.name)
        // The step was not sent.
        default: return error.code
        }
    }

    /// How many steps the database has. They must be the first ones of this program, unchanged.
    func appliedCount() async throws(MigrationError) -> Int {
        let checksums = try await withConnection { connection throws(PostgresError) in
            try await connection.run(sql.migrations.list()).rows
        }
        return try Self.appliedCount(checksums)
    }

    private static func appliedCount(_ checksums: [String]) throws(MigrationError) -> Int {
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
            let lockTimeout = "\(Int(tableLockTimeMax / .milliseconds(1)))ms"
            let pool = try PostgresPool(
                url: url, connections: 1, sharedConnections: 0, loop: loop,
                sessionSettings: [("lock_timeout", lockTimeout)], applicationName: "tidemark-migrate")
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
            throw MigrationError(.database, detail: error.debugDescription, cause: error)
        }
    }
}

/// The SQL that reads which steps a database has.
struct MigrationStatements: Sendable {
    let exists = DeclaredStatement<Void, Void>(
        .read, "migration_table",
        "SELECT 1 FROM pg_tables WHERE schemaname = 'public' AND tablename = 'schema_migration'")

    let restoring = DeclaredStatement<Void, Bool>(
        .read, "restore_mark", "SELECT to_regclass('public.\(RestoreTarget.mark)') IS NOT NULL")

    let version = DeclaredStatement<Void, Int>(
        .read, "postgres_version", "SELECT current_setting('server_version_num')::bigint")

    let list = DeclaredStatement<Void, String>(
        .read, "migration_list",
        "SELECT checksum FROM schema_migration ORDER BY number")

    /// Whether one run has made the database up to a step, or both the step and the start of PostgreSQL were an hour ago.
    let settled = DeclaredStatement<Int, Bool>(
        .read, "migration_settled",
        """
        SELECT coalesce(
                   step.applied_at - first.applied_at < interval '2 minutes'
                   OR greatest(step.applied_at, pg_postmaster_start_time()) < now() - interval '1 hour', false) AS settled
          FROM schema_migration step, schema_migration first
         WHERE step.number::bigint = \(\.self) AND first.number = 1
        """)

    let steps = DeclaredStatement<Void, MigrationStep.Applied>(
        .read, "migration_steps",
        """
        SELECT number::bigint AS number, name, checksum,
               to_char(applied_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS at
          FROM schema_migration ORDER BY number
        """
    ) { row throws(PostgresError) in
        MigrationStep.Applied(
            number: try row["number"], name: try row["name"], checksum: try row["checksum"], at: try row["at"])
    }
}

/// Why a database could not be brought up to date.
package struct MigrationError: Error, CustomStringConvertible {
    /// The causes of the error. The text names the migration.
    package enum Code: Sendable, Equatable {
        case database
        /// PostgreSQL refused the step. Nothing of it is left.
        case step(String)
        /// The same, because another session held a table for longer than a step waits.
        case locked(String)
        /// It is not known whether the step took place, or will.
        case unanswered(String)
        case newer
        case different(String)
        /// A restore into the database has begun, and has not come to its end.
        case restoring
        /// PostgreSQL itself.
        case tooOld(PostgresVersion, oldest: PostgresVersion)
    }

    package let code: Code
    package let detail: String

    let cause: PostgresError?

    /// Whether PostgreSQL does not allow it to the role of the URL.
    package var isNotAllowed: Bool { cause?.code == .statement(.insufficientPrivilege) }
    /// Whether the URL is none.
    package var isOfURL: Bool { cause?.code == .invalidURL }

    init(_ code: Code, detail: String = "", cause: PostgresError? = nil) {
        self.code = code
        self.detail = detail
        self.cause = cause
    }

    package var description: String {
        switch code {
        case .database:
            "The database cannot be reached or read: check --database-url. \(detail)"
        case .step(let name):
            "Migration \(name) failed and was rolled back, so the database is as it was before it. Mend the cause, and run "
                + "`tidemark migrate` again. \(detail)"
        case .locked(let name):
            "Migration \(name) was rolled back: another program, such as a backup, uses a table that it changes. Run "
                + "`tidemark migrate` again when that has ended. \(detail)"
        case .unanswered(let name):
            "PostgreSQL did not answer to migration \(name): whether it took place is not known. Run "
                + "`tidemark migrate` again: it waits for its end and does what is missing. \(detail)"
        case .newer:
            "The database was migrated by a newer version of tidemark: run that version. \(detail)"
        case .tooOld(let version, let oldest):
            "PostgreSQL is \(version), and Tidemark needs \(oldest.major) or later. Upgrade PostgreSQL."
        case .restoring:
            "A restore into this database has not come to its end. Wait for it, or repeat it: tidemark admin backup "
                + "restore."
        case .different(let name):
            "Migration \(name) was applied to this database in another form: it is not a tidemark release's database. Check "
                + "--database-url, or run the version that applied it."
        }
    }
}
