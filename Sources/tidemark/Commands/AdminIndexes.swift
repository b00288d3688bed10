// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import TidemarkStore

struct AdminIndexes: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "indexes", abstract: "Indexes for queries, of all containers.",
        subcommands: [List.self, Build.self])

    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the indexes and their state.",
            discussion: """
                What is indexed: = a field for equality, < its order, * the elements of a list, @ a location, # the words of \
                all searchable fields. An index that is missing or invalid makes queries slow, never wrong.
                """)

        @OptionGroup var database: DatabaseOption

        func run() throws {
            let indexes = try database.withAdminStore { try await $0.indexes() }
            Table.print(
                ["RECORD TYPE", "OF", "STATE", "BYTES", "NAME"],
                indexes.map { [$0.recordType ?? "", $0.what, $0.state.rawValue, "\($0.byteCount)", $0.name] })
        }
    }

    struct Build: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Build missing indexes, rebuild invalid ones, and drop those that no schema asks for.",
            discussion: "Servers may run meanwhile.")

        @OptionGroup var database: DatabaseOption

        func run() throws {
            try database.withAdminStore { try await $0.buildIndexes() }
            print("Done.")
        }
    }
}
