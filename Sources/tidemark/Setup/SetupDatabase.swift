// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import TidemarkAdmin
internal import TidemarkDomain
internal import TidemarkPostgres
internal import TidemarkServer
internal import TidemarkSockets
internal import TidemarkStore

/// Makes what a server needs in PostgreSQL. Each step leaves alone what is there.
struct SetupDatabase: Sendable {
    let settings: SetupSettings

    /// The user that PostgreSQL's superuser is on Debian.
    private static let superuser = "postgres"

    /// Runs `body` as the user whom PostgreSQL's socket takes for its superuser. The whole process is that user meanwhile.
    func asSuperuser<Value>(_ body: () throws -> Value) throws -> Value {
        guard settings.superuserURL == nil, geteuid() == 0 else { return try body() }
        guard let entry = getpwnam(Self.superuser) else {
            throw AdminFailure(
                .refused,
                "There is no user \(Self.superuser) on this machine. Install PostgreSQL (apt install postgresql), or give "
                    + "--superuser-url for one elsewhere.")
        }
        guard seteuid(entry.pointee.pw_uid) == 0 else {
            throw AdminFailure(.notAllowed, "The program cannot become the user \(Self.superuser). Run it as root.")
        }
        defer { seteuid(0) }
        return try body()
    }

    /// - Parameter password: nil for a role that has none.
    /// - Returns: whether it is new.
    func makeRole(password: String?) throws -> Bool {
        let name = PostgresAdministration.quoted(settings.role)
        var statements = ["CREATE ROLE \(name) LOGIN"]
        if let password {
            // PostgreSQL writes a statement that fails into its log: that the role exists must not fail one with a password.
            let secret = password.replacing("'", with: "''")
            statements = ["BEGIN"] + statements + ["ALTER ROLE \(name) PASSWORD '\(secret)'", "COMMIT"]
        }
        return try isNew(statements, exists: .duplicateObject)
    }

    /// - Returns: whether it is new.
    func makeDatabase() throws -> Bool {
        let name = PostgresAdministration.quoted(settings.database)
        let owner = PostgresAdministration.quoted(settings.role)
        // Debian makes clusters in the language of whoever installs it, which may not be UTF-8.
        let locale = settings.superuserURL == nil ? " LOCALE 'C.UTF-8'" : ""
        let statement = "CREATE DATABASE \(name) OWNER \(owner) TEMPLATE template0 ENCODING 'UTF8'\(locale)"
        return try isNew([statement], exists: .duplicateDatabase)
    }

    private func isNew(_ statements: [String], exists: SQLState) throws -> Bool {
        do {
            try PostgresAdministration.execute(statements, url: settings.superuserURL ?? SetupSettings.localURL)
            return true
        } catch {
            if error.code == .statement(exists) { return false }
            guard case .statement = error.code else {
                throw AdminFailure(
                    .unreachable,
                    "PostgreSQL cannot be reached as its superuser. Start it, or say by --superuser-url where it is. "
                        + "(\(error.detail))")
            }
            throw AdminFailure(.refused, "PostgreSQL refused: \(error.detail)")
        }
    }

    /// What is in the database of a server.
    struct Made: Sendable {
        var steps: [String] = []
        /// Whether each container is new.
        var containers: [(key: ContainerKey, isNew: Bool)] = []
        /// The operator's credential; nil: there is already an operator of that name.
        var credential: String?
    }

    /// The database has a master key that is not the one of the file.
    struct OtherMasterKey: Error {
        let failure: AdminFailure
    }

    /// Brings the tables up to date, and makes the container in both environments, and the operator.
    ///
    /// - Throws: ``OtherMasterKey`` before it makes anything but tables.
    func fill(container: String?, operator name: String?, masterKeyCheck: [UInt8]) throws -> Made {
        let url = try settings.databaseURL(asRole: true)
        return try blocking {
            let loop = try EventLoop(name: "setup")
            defer { loop.stop() }
            var made = Made()
            made.steps = try await Migrator(url: url, loop: loop).migrate()
            let storage = try PostgresStorage(
                url: url, loop: loop, connections: 1, readConnections: 1, queryTimes: .patient)
            let result: Result<Void, any Error>
            do {
                if let check = try await storage.masterKeyCheck(), check != masterKeyCheck {
                    throw OtherMasterKey(
                        failure: AdminFailure(
                            .refused,
                            "The database has another master key. Copy its servers' file to \(settings.masterKeyFile), and run "
                                + "this again."))
                }
                try await Self.fill(AdminStore(storage), container, name, &made)
                result = .success(())
            } catch {
                result = .failure(error)
            }
            await storage.stop()
            try result.get()
            return made
        }
    }

    private static func fill(
        _ store: AdminStore, _ container: String?, _ name: String?, _ made: inout Made
    ) async throws {
        if let container {
            for environment in [ContainerEnvironment.development, .production] {
                let key = ContainerKey(identifier: container, environment: environment)
                made.containers.append((key, try await store.createContainer(key)))
            }
        }
        guard let name, let id = try await store.createOperator(name, .owner) else { return }
        let credential = Credential.make()
        _ = try await store.issueOperatorCredential(hash: credential.hash, label: "setup", expiresAt: nil, for: id)
        made.credential = credential.text
    }
}
