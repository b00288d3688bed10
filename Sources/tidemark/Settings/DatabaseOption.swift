// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import TidemarkAdmin
internal import TidemarkPostgres

/// Where the database is.
struct DatabaseOption: ParsableArguments {
    @Option(
        name: .customLong("database-url"),
        help: ArgumentHelp(
            "PostgreSQL's URL, in libpq's form. Several hosts are allowed.", discussion: "Or TIDEMARK_DATABASE_URL.",
            valueName: "url"))
    var url: String?

    /// Warns of a password in the option: whoever may list processes sees it.
    func value() throws(AdminFailure) -> String {
        if let url, PostgresURL.hasPassword(url) { printError(AdminTarget.passwordWarning) }
        return try Setting.required(url, "--database-url")
    }
}
