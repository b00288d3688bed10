// SPDX-License-Identifier: Apache-2.0

internal import CTidemarkLibpq

/// Runs statements about whole databases (CREATE DATABASE …), which need their own connection and no loop.
package enum PostgresAdministration {
    /// Connects, runs each of `statements` separately, and disconnects. It blocks: never call it on an event loop.
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

    /// A name as an identifier in a statement.
    package static func quoted(_ name: String) -> String {
        "\"" + name.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
    }
}
