// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import TidemarkDomain
internal import TidemarkStore

struct AdminStats: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stats", abstract: "What the store holds, in numbers.",
        subcommands: [Containers.self, Accounts.self, Tables.self, Indexes.self])

    struct Containers: AdminCommand {
        static let configuration = CommandConfiguration(
            "containers", abstract: "What each container holds.", examples: "tidemark admin stats containers -o wide")
        static let role = OperatorRole.viewer

        @OptionGroup(title: "Options of all commands") var options: AdminOptions

        func run(_ console: Console) async throws {
            try await console.show(try await console.store.containerCounts(), as: AdminStats.containerColumns)
        }
    }

    static let containerColumns: [Column<ContainerCounts>] = [
        Column("CONTAINER", key: "container", isName: true) { .text($0.container.identifier) },
        Column("ENVIRONMENT", key: "environment", isName: true) { .text($0.container.environment.name) },
        Column("USERS", key: "users") { .number($0.userCount) },
        Column("ZONES", key: "zones") { .number($0.zoneCount) },
        Column("RECORD BYTES", key: "recordBytes") { .number(Int($0.recordBytes)) },
        Column("ASSETS", key: "assets") { .number($0.assetCount) },
        Column("ASSET BYTES", key: "assetBytes") { .number(Int($0.assetBytes)) },
        Column("ENDED ZONES", key: "endedZones", wide: true) { .number($0.endedZoneCount) },
        Column("TOMBSTONE BYTES", key: "tombstoneBytes", wide: true) { .number(Int($0.tombstoneBytes)) },
        Column("SHARES", key: "shares", wide: true) { .number($0.shareCount) },
        Column("SUBSCRIPTIONS", key: "subscriptions", wide: true) { .number($0.subscriptionCount) },
    ]

    struct Accounts: AdminCommand {
        static let configuration = CommandConfiguration(
            "accounts", abstract: "The accounts that hold the most bytes in their private databases.",
            examples: "tidemark admin stats accounts --limit 20")
        static let role = OperatorRole.viewer

        @Option(help: "How many accounts.") var limit = 10
        @OptionGroup(title: "Options of all commands") var options: AdminOptions

        func validate() throws {
            guard (1...10_000).contains(limit) else { throw ValidationError("--limit must be between 1 and 10000.") }
        }

        func run(_ console: Console) async throws {
            try await console.show(
                try await console.store.largestAccounts(limit),
                as: [
                    Column("ACCOUNT", key: "account", isName: true) { .text($0.account) },
                    Column("BYTES", key: "bytes") { .number(Int($0.recordBytes + $0.assetBytes)) },
                    Column("RECORD BYTES", key: "recordBytes") { .number(Int($0.recordBytes)) },
                    Column("ASSET BYTES", key: "assetBytes") { .number(Int($0.assetBytes)) },
                ])
        }
    }

    struct Tables: AdminCommand {
        static let configuration = CommandConfiguration(
            "tables", abstract: "PostgreSQL's tables with their bytes and dead rows, largest first.",
            discussion: "PostgreSQL estimates the rows. Dead ones are removed by its autovacuum.",
            examples: "tidemark admin stats tables")
        static let role = OperatorRole.viewer

        @OptionGroup(title: "Options of all commands") var options: AdminOptions

        func run(_ console: Console) async throws {
            try await console.show(
                try await console.store.relations().filter { $0.table == nil }, as: AdminStats.tableColumns)
        }
    }

    static let tableColumns: [Column<RelationSize>] = [
        Column("TABLE", key: "table", isName: true) { .text($0.name) },
        Column("BYTES", key: "bytes") { .number(Int($0.byteCount)) },
        Column("ROWS", key: "rows") { .number(Int($0.liveRows)) },
        Column("DEAD ROWS", key: "deadRows") { .number(Int($0.deadRows)) },
    ]

    struct Indexes: AdminCommand {
        static let configuration = CommandConfiguration(
            "indexes", abstract: "PostgreSQL's indexes with their bytes, largest first.",
            examples: "tidemark admin stats indexes")
        static let role = OperatorRole.viewer

        @OptionGroup(title: "Options of all commands") var options: AdminOptions

        func run(_ console: Console) async throws {
            try await console.show(
                try await console.store.relations().filter { $0.table != nil },
                as: [
                    Column("INDEX", key: "index", isName: true) { .text($0.name) },
                    Column("TABLE", key: "table") { .optional($0.table) },
                    Column("BYTES", key: "bytes") { .number(Int($0.byteCount)) },
                    Column("USES", key: "uses") { .number(Int($0.useCount)) },
                    Column("WHOLE", key: "isWhole") { .flag($0.isValid) },
                ])
        }
    }
}
