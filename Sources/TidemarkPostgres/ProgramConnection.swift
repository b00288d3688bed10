// SPDX-License-Identifier: Apache-2.0

internal import CTidemarkLibpq

/// How a program of PostgreSQL's own, such as `pg_dump`, reaches the database of a URL.
///
/// Everybody who may list processes can read a program's arguments. So what the URL says is passed in variables of the
/// program's environment, as far as libpq has one for it.
package struct ProgramConnection: Sendable, Equatable {
    /// Variables for the program's environment.
    package let environment: [String: String]
    /// The value of `--dbname`: what has no variable, and the database's name, without which `pg_restore` writes a script.
    package let name: String

    /// - Returns: nil if the string cannot be parsed, or if it has the password of a private key, for which there is no
    ///   variable.
    package init?(url: String) {
        guard let options = PQconninfoParse(url, nil) else { return nil }
        defer { PQconninfoFree(options) }
        var environment: [String: String] = [:]
        var rest: [String] = []
        var next = options
        while let keyword = next.pointee.keyword.map({ String(cString: $0) }) {
            defer { next += 1 }
            guard let value = next.pointee.val.map({ String(cString: $0) }) else { continue }
            if keyword == "dbname" {
                rest.append("dbname=\(PostgresURL.quoted(value))")
            } else if let variable = next.pointee.envvar {
                environment[String(cString: variable)] = value
            } else if keyword == "sslpassword" {
                return nil
            } else {
                rest.append("\(keyword)=\(PostgresURL.quoted(value))")
            }
        }
        self.environment = environment
        name = rest.joined(separator: " ")
    }
}
