// SPDX-License-Identifier: Apache-2.0

package import ArgumentParser
internal import TidemarkPostgres

/// A command of contexts, which are in a file of the operator's own machine.
package protocol ContextCommand: ParsableCommand, Sendable {
    var options: AdminOptions { get }

    /// - Throws: ``AdminFailure`` or ``CommandEnd``.
    func run(_ screen: Screen, _ contexts: ContextFile) async throws
}

struct AdminContextCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "context", abstract: "Names for databases and servers, with a container and an environment.",
        discussion: """
            What the selected context has need not be given with each command. An option wins over a variable of the \
            environment, and both over the context.
            """,
        subcommands: [List.self, Show.self, Add.self, Select.self, Remove.self])

    struct List: ContextCommand {
        static let configuration = CommandConfiguration(
            "list", abstract: "List the contexts.", examples: "tidemark admin context list")

        @OptionGroup(title: "Options of all commands") var options: AdminOptions

        func run(_ screen: Screen, _ contexts: ContextFile) async throws {
            let list = try contexts.read()
            try await screen.show(list.contexts, as: AdminContextCommand.columns(selected: list.selected))
        }
    }

    struct Show: ContextCommand {
        static let configuration = CommandConfiguration(
            "show", abstract: "Show a context, without its password or credential.",
            examples: "tidemark admin context show dev")

        @Argument(help: "The context's name. Default: the selected one.", completion: .live(.contexts)) var name:
            String?
        @OptionGroup(title: "Options of all commands") var options: AdminOptions

        func run(_ screen: Screen, _ contexts: ContextFile) async throws {
            let list = try contexts.read()
            guard let name = name ?? list.selected else {
                throw AdminFailure(.refused, "No context is selected. See: tidemark admin context list")
            }
            guard let context = list[name] else { throw AdminFailure.noContext(name) }
            try await screen.show(
                [context],
                as: AdminContextCommand.columns(selected: list.selected) + [
                    Column("CREDENTIAL", key: "credential") { .optional($0.hiddenCredential) },
                    Column("START", key: "start") { .optional($0.start) },
                ])
        }
    }

    struct Add: ContextCommand {
        static let configuration = CommandConfiguration(
            "add", abstract: "Add a context, or replace the one of this name.",
            discussion: """
                It is a database (--database-url), or a server (--server) with the credential of an operator. The file of \
                contexts can be read by its owner only.
                """,
            examples:
                "tidemark admin context add home --database-url postgresql:///tidemark --container iCloud.com.example.notes",
            "tidemark admin context add work --server wss://cloud.example.org:8444 --credential-file operator.token")

        @Argument(help: "A name for it.") var name: String
        @Option(help: ArgumentHelp("The server's URL.", valueName: "wss://host")) var server: String?
        @Option(
            help: ArgumentHelp("The file with the operator's credential; - for standard input.", valueName: "file"))
        var credentialFile: String?
        @Option(
            name: .customLong("ca"),
            help: ArgumentHelp(
                "PEM file: a further authority of servers' certificates.", discussion: "Or TIDEMARK_CA.",
                valueName: "file"))
        var authorityFile: String?
        @Flag(help: "Select it too.") var select = false
        @OptionGroup(title: "Options of all commands") var options: AdminOptions

        private static let credentialBytesMax = 4_096

        func validate() throws {
            guard AccountName.isValid(name) else {
                throw ValidationError("A context's name is 1 to 255 printable ASCII characters without spaces.")
            }
            guard (server == nil) != (options.databaseURL == nil) else {
                throw ValidationError("Give either --database-url or --server.")
            }
            guard (server == nil) == (credentialFile == nil) else {
                throw ValidationError("--server and --credential-file belong together. Give both.")
            }
            if let server, OperatorURL(server) == nil {
                throw ValidationError(
                    "--server takes a URL such as wss://cloud.example.org:8444, or ws:// for this machine, not \(server)."
                )
            }
            guard authorityFile == nil || server != nil else {
                throw ValidationError("--ca is for servers. Give --server too.")
            }
            if let url = options.databaseURL, PostgresURL.redacted(url) == nil {
                throw ValidationError("--database-url is not a connection string of libpq.")
            }
        }

        func run(_ screen: Screen, _ contexts: ContextFile) async throws {
            let context = AdminContext(
                name: name, target: try target(screen), container: options.container, environment: options.environment,
                authorityFile: authorityFile)
            let isThere = try contexts.read()[name] != nil
            try screen.plan("\(isThere ? "replace" : "add") the context \(name)")
            let (replaced, isSelected) = try contexts.change { list throws(AdminFailure) in
                let replaced = list[name] != nil
                list.set(context)
                if select || list.selected == nil { _ = list.select(name) }
                return (replaced, list.selected == name)
            }
            screen.say(
                "\(replaced ? "Replaced" : "Added") \(name)."
                    + (isSelected ? " It is selected." : " Next: tidemark admin context select \(name)"))
        }

        private func target(_ screen: Screen) throws(AdminFailure) -> AdminContextTarget {
            guard let server, let credentialFile else { return .database(url: options.databaseURL ?? "") }
            let text = try screen.open(credentialFile).text(byteCountMax: Self.credentialBytesMax)
            let credential = String(text.prefix { !$0.isNewline })
            guard !credential.isEmpty else { throw AdminFailure(.usage, "\(credentialFile) has no credential.") }
            return .server(url: server, credential: credential)
        }
    }

    struct Select: ContextCommand {
        static let configuration = CommandConfiguration(
            "select", abstract: "Select a context. Commands go there from now on.",
            examples: "tidemark admin context select home")

        @Argument(help: "The context's name.", completion: .live(.contexts)) var name: String
        @OptionGroup(title: "Options of all commands") var options: AdminOptions

        func run(_ screen: Screen, _ contexts: ContextFile) async throws {
            guard try contexts.read()[name] != nil else { throw AdminFailure.noContext(name) }
            try screen.plan("select the context \(name)")
            guard try contexts.change({ list throws(AdminFailure) in list.select(name) }) else {
                throw AdminFailure.noContext(name)
            }
            screen.say("Selected \(name).")
        }
    }

    struct Remove: ContextCommand {
        static let configuration = CommandConfiguration(
            "remove", abstract: "Remove a context. What it names stays as it is.",
            examples: "tidemark admin context remove home")

        @Argument(help: "The context's name.", completion: .live(.contexts)) var name: String
        @OptionGroup(title: "Options of all commands") var options: AdminOptions

        func run(_ screen: Screen, _ contexts: ContextFile) async throws {
            guard try contexts.read()[name] != nil else { throw AdminFailure.noContext(name) }
            try screen.plan("remove the context \(name)")
            guard try contexts.change({ list throws(AdminFailure) in list.remove(name) }) else {
                throw AdminFailure.noContext(name)
            }
            screen.say("Removed \(name).")
        }
    }

    private static func columns(selected: String?) -> [Column<AdminContext>] {
        [
            Column("CONTEXT", key: "context", isName: true) { .text($0.name) },
            Column("SELECTED", key: "selected") { .flag($0.name == selected) },
            Column("TARGET", key: "target") { .text($0.shownTarget) },
            Column("CONTAINER", key: "container") { .optional($0.container) },
            Column("ENVIRONMENT", key: "environment") { .optional($0.environment?.rawValue) },
        ]
    }
}

extension AdminFailure {
    /// There is no context of a name.
    static func noContext(_ name: String) -> AdminFailure {
        AdminFailure(.refused, "There is no context \(name). See: tidemark admin context list")
    }
}

extension AdminContext {
    /// Without a password.
    fileprivate var shownTarget: String {
        switch target {
        case .database(let url): PostgresURL.redacted(url) ?? "(not a connection string)"
        case .server(let url, _): url
        }
    }

    fileprivate var hiddenCredential: String? {
        if case .server = target { "***" } else { nil }
    }
}
