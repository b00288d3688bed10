// SPDX-License-Identifier: Apache-2.0

internal import CTidemarkLibpq

/// Statements about whole databases (CREATE DATABASE …), which need a connection of their own and no loop.
package enum PostgresAdministration {
    /// Connects, runs each of `statements` by itself, and disconnects. Blocks: never call it on an event loop.
    package static func execute(_ statements: [String], url: String) throws(PostgresError) {
        guard let connection = PQconnectdb(url) else {
            throw PostgresError(.connectionUnavailable, detail: "no memory")
        }
        defer { PQfinish(connection) }
        guard PQstatus(connection) == CONNECTION_OK else {
            throw PostgresError(.connectionUnavailable, detail: PostgresError.text(of: connection))
        }
        for (index, statement) in statements.enumerated() {
            guard let result = PQexec(connection, statement) else {
                throw PostgresError(.connectionLost, detail: PostgresError.text(of: connection))
            }
            defer { PQclear(result) }
            let status = PQresultStatus(result)
            guard status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK else {
                var error = PostgresError(result: result)
                error.statementIndex = index
                throw error
            }
        }
    }

    /// A name as it stands in a statement.
    package static func quoted(_ name: String) -> String {
        "\"" + name.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
    }
}
