// SPDX-License-Identifier: Apache-2.0

internal import TidemarkAdmin
internal import TidemarkPostgres

/// What `tidemark setup` makes, and what a server is told of it.
struct SetupSettings: Sendable {
    /// Nil: PostgreSQL of this machine, over its socket, as its own user.
    let superuserURL: String?
    let database: String
    let role: String
    /// Where the files are.
    let directory: String
    let listen: String
    /// Nil: the server speaks no TLS, and listens on loopback.
    let certificate: (file: String, key: String)?

    static let localURL = "postgresql:///postgres?host=/var/run/postgresql"

    var environmentFile: String { "\(directory)/tidemark.env" }
    var masterKeyFile: String { "\(directory)/master.key" }
    var passwordFile: String { "\(directory)/database-password" }

    /// The database of the server, still as the superuser.
    ///
    /// - Parameter asRole: whether what is made belongs to the server's role.
    func databaseURL(asRole: Bool = false) throws(AdminFailure) -> String {
        try replacing(["dbname": database].merging(asRole ? ["options": "-c role=\(role)"] : [:]) { $1 })
    }

    /// As the server connects. The password is in a file of its own.
    func serverURL() throws(AdminFailure) -> String {
        try replacing(["dbname": database, "user": role, "password": "", "options": ""])
    }

    private func replacing(_ changes: [String: String]) throws(AdminFailure) -> String {
        guard let url = PostgresURL.replacing(changes, in: superuserURL ?? Self.localURL) else {
            throw AdminFailure(
                .usage,
                "--superuser-url takes PostgreSQL's URL in libpq's form, such as postgresql://postgres@db.example.")
        }
        return url
    }

    /// The file of variables, which systemd reads (systemd.exec(5), EnvironmentFile=).
    func environment() throws(AdminFailure) -> String {
        var lines = [
            "# The settings of tidemark.service. `tidemark serve --help` has all of them: --log-level is TIDEMARK_LOG_LEVEL.",
            "# Made by `tidemark setup`, which never changes it again. After a change: systemctl restart tidemark",
            try Self.line("TIDEMARK_DATABASE_URL", serverURL()), try Self.line("TIDEMARK_LISTEN", listen),
        ]
        if let certificate {
            lines.append(try Self.line("TIDEMARK_CERTIFICATE", certificate.file))
            lines.append(try Self.line("TIDEMARK_PRIVATE_KEY", certificate.key))
        } else {
            lines.append(
                "# Without TLS, on this machine alone. README.md has a chapter on certificates, and one on proxies.")
            lines.append(try Self.line("TIDEMARK_PLAIN", "1"))
        }
        lines.append(try Self.line("TIDEMARK_ASSET_DIRECTORY", "/var/lib/tidemark/assets"))
        lines.append("# For Prometheus and load balancers, and for commands of operators, on this machine.")
        lines.append(try Self.line("TIDEMARK_ADMIN_LISTEN", "127.0.0.1:9464"))
        lines.append(try Self.line("TIDEMARK_OPERATORS_LISTEN", "127.0.0.1:8444"))
        return lines.map { $0 + "\n" }.joined()
    }

    private static func line(_ name: String, _ value: String) throws(AdminFailure) -> String {
        guard !value.utf8.contains(where: { $0 < 0x20 }) else {
            throw AdminFailure(.usage, "A setting cannot have a line break or another control character: \(name).")
        }
        var escaped = ""
        for character in value.unicodeScalars {
            if "\"\\`$".unicodeScalars.contains(character) { escaped += "\\" }
            escaped.unicodeScalars.append(character)
        }
        return "\(name)=\"\(escaped)\""
    }
}
