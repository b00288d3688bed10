// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Foundation
internal import TidemarkLocalPostgres
internal import TidemarkPostgres

/// Where the programs of PostgreSQL are that make and read a dump.
struct BackupToolOptions: ParsableArguments, Sendable {
    @Option(
        help: ArgumentHelp(
            "The directory of pg_dump and pg_restore.",
            discussion: "Or TIDEMARK_POSTGRES_BINARIES. Default: those of the server's version, or newer ones.",
            valueName: "directory"))
    var postgresBinaries: String?

    /// - Parameter major: the version that it must have at least.
    /// - Throws: `LocalPostgresError`.
    func tool(_ name: String, atLeast major: Int) throws -> PostgresTool {
        try PostgresTool.find(name, atLeast: major, binaries: postgresBinaries)
    }

    /// Whether `pg_restore` of a version works with a server. From 17 on it sets `transaction_timeout`, which older servers do
    /// not know; a newer `pg_restore` works with an older server otherwise.
    static func restores(_ major: Int, into server: Int) -> Bool { major < 17 || server >= 17 }

    /// - Parameters:
    ///   - major: of `pg_restore`.
    ///   - dumpedBy: the version of `pg_dump` that wrote the dump. An older `pg_restore` does not read it.
    static func checkRestores(_ major: Int, dumpedBy: Int, into server: Int) throws(AdminFailure) {
        guard !restores(major, into: server) else { return }
        let advice =
            restores(dumpedBy, into: server)
            ? "Install the package postgresql-client-\(max(dumpedBy, server)), or name the directory of its programs with "
                + "--postgres-binaries."
            : "The dump was written by pg_dump of PostgreSQL \(dumpedBy): restore it into PostgreSQL 17 or later."
        throw AdminFailure(
            .refused,
            "pg_restore of PostgreSQL \(major) works with PostgreSQL 17 or later, and the database's is \(server). \(advice)"
        )
    }

    /// What libpq reads of our environment, and what the URL says.
    static func variables(_ connection: ProgramConnection) -> [String: String] {
        ProcessInfo.processInfo.environment.filter { $0.key.hasPrefix("PG") || $0.key == "HOME" }
            .merging(connection.environment) { $1 }
    }

    /// - Parameter service: of our environment, which the programs inherit. Other variables do not overrule a service.
    static func connection(
        to url: String, service: String? = ProcessInfo.processInfo.environment["PGSERVICE"]
    ) throws(AdminFailure) -> ProgramConnection {
        guard let connection = ProgramConnection(url: url) else {
            throw AdminFailure(
                .usage,
                "The database URL has the password of a private key, which cannot be handed to pg_dump and pg_restore. Take "
                    + "the password off a copy of the key, and name that.")
        }
        let hasService = service != nil || connection.environment["PGSERVICE"] != nil
        guard !hasService || connection.environment.keys.allSatisfy({ $0 == "PGSERVICE" }) else {
            throw AdminFailure(
                .usage,
                "pg_dump and pg_restore would take another database than the URL's, because PGSERVICE or the URL names a "
                    + "service as well. Unset PGSERVICE, or leave only the service and the database's name in the URL.")
        }
        return connection
    }
}
