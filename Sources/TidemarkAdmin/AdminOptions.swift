// SPDX-License-Identifier: Apache-2.0

package import ArgumentParser
package import TidemarkDomain

/// The options that each command of `tidemark admin` has.
package struct AdminOptions: ParsableArguments, Sendable {
    @Option(
        help: ArgumentHelp(
            "The context that says where to go.",
            discussion: "Or TIDEMARK_CONTEXT. Default: what `tidemark admin context select` chose.",
            valueName: "context"),
        completion: .live(.contexts))
    package var context: String?

    @Option(
        name: .customLong("database-url"),
        help: ArgumentHelp(
            "PostgreSQL's URL, in libpq's form. Several hosts are allowed.",
            discussion: "Or TIDEMARK_DATABASE_URL, or the context.", valueName: "url"))
    package var databaseURL: String?

    @Option(
        help: ArgumentHelp(
            "The container's identifier.", discussion: "Or TIDEMARK_CONTAINER, or the context.", valueName: "identifier"
        ),
        completion: .live(.containers))
    package var container: String?

    @Option(
        help: ArgumentHelp(
            "development or production.",
            discussion: "Or TIDEMARK_ENVIRONMENT, or the context. Default: development.", valueName: "environment"))
    package var environment: EnvironmentName?

    @Option(name: .shortAndLong, help: ArgumentHelp("The form of the output.", valueName: "format"))
    package var output: OutputFormat = .table

    @Flag(help: "Ask nothing: destroy what the command destroys.")
    package var yes = false

    @Flag(help: "Only say what would be changed.")
    package var dryRun = false

    @Flag(
        help: ArgumentHelp(
            "Show each SQL statement, or the request to a server, on standard error.",
            discussion:
                "SQL has no values: each is a variable of psql with the name of what was given. A request has no credential."
        ))
    package var debug = false

    package init() {}
}

/// A container's environment on a command line.
package enum EnvironmentName: String, Sendable, CaseIterable, ExpressibleByArgument, Codable {
    case development, production

    package var value: ContainerEnvironment { self == .development ? .development : .production }

    package init(_ environment: ContainerEnvironment) {
        self = environment == .development ? .development : .production
    }
}

extension ContainerEnvironment {
    /// As it is written in options.
    package var name: String { EnvironmentName(self).rawValue }
}
