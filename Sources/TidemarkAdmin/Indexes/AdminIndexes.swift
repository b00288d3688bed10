// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import TidemarkDomain
internal import TidemarkStore

struct AdminIndexes: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "indexes", abstract: "Indexes for queries, of all containers.",
        subcommands: [List.self, Build.self])

    struct List: AdminCommand {
        static let configuration = CommandConfiguration(
            "list", abstract: "List the indexes and their state.",
            discussion: """
                What is indexed: = a field for equality, < its order, * the elements of a list, @ a location, # the words of \
                all searchable fields. An index that is missing or invalid makes queries slow, never wrong.
                """,
            examples: "tidemark admin indexes list")
        static let role = OperatorRole.viewer

        @OptionGroup(title: "Options of all commands") var options: AdminOptions

        func run(_ console: Console) async throws {
            try await console.show(
                try await console.store.indexes(),
                as: [
                    Column("RECORD TYPE", key: "recordType") { .optional($0.recordType) },
                    Column("OF", key: "of") { .text($0.what) },
                    Column("STATE", key: "state") { .text($0.state.rawValue) },
                    Column("BYTES", key: "bytes") { .number(Int($0.byteCount)) },
                    Column("NAME", key: "name", isName: true) { .text($0.name) },
                ])
        }
    }

    struct Build: AdminCommand {
        static let configuration = CommandConfiguration(
            "build", abstract: "Build missing indexes, rebuild invalid ones, and drop those that no schema asks for.",
            discussion: "Servers may run meanwhile.", examples: "tidemark admin indexes build")
        static let role = OperatorRole.editor

        @OptionGroup(title: "Options of all commands") var options: AdminOptions

        func run(_ console: Console) async throws {
            if console.isDryRun {
                let states = try await console.store.indexes().map(\.state)
                let missing = states.count { $0 == .missing || $0 == .invalid }
                try console.plan(
                    "build \(missing) of the indexes, and drop \(states.count { $0 == .unused }) of them")
            }
            try await console.store.buildIndexes()
            console.say("Done.")
        }
    }
}
