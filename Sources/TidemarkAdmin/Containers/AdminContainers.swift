// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import TidemarkDomain
internal import TidemarkStore

struct AdminContainers: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "containers", abstract: "Containers: the apps whose data is stored.",
        subcommands: [
            List.self, Show.self, Create.self, Delete.self, SetLimit.self, SetFeeds.self, SetContainerQuota.self,
        ])

    struct List: AdminCommand {
        static let configuration = CommandConfiguration(
            "list", abstract: "List all containers.", examples: "tidemark admin containers list")
        static let role = OperatorRole.viewer

        @OptionGroup(title: "Options of all commands") var options: AdminOptions

        func run(_ console: Console) async throws {
            try await console.show(try await console.store.containers(), as: AdminContainers.columns)
        }
    }

    struct Show: AdminCommand {
        static let configuration = CommandConfiguration(
            "show", abstract: "Show a container with its limits and quotas.",
            examples: "tidemark admin containers show iCloud.com.example.notes --environment production")
        static let role = OperatorRole.viewer

        @Argument(help: "The container's identifier.", completion: .live(.containers)) var identifier: String
        @OptionGroup(title: "Options of all commands") var options: AdminOptions

        func run(_ console: Console) async throws {
            let key = try console.key(identifier)
            let found = try await console.store.containers().filter { $0.key == key }
            guard !found.isEmpty, let quota = try await console.store.quota(of: key) else {
                throw AdminFailure.noContainer(key)
            }
            try await console.show(
                found,
                as: AdminContainers.columns + [
                    Column("PRIVATE QUOTA", key: "privateQuotaBytes") { _ in
                        .optional(quota.privateBytes.map { Int($0) })
                    },
                    Column("PUBLIC QUOTA", key: "publicQuotaBytes") { _ in .optional(quota.publicBytes.map { Int($0) })
                    },
                    Column("PUBLIC SHARE", key: "publicShareBytes") { _ in
                        .optional(quota.publicShareBytes.map { Int($0) })
                    },
                ])
        }
    }

    struct Create: AdminCommand {
        static let configuration = CommandConfiguration(
            "create", abstract: "Create a container, so that its app's accounts can connect.",
            examples: "tidemark admin containers create iCloud.com.example.notes --environment production")
        static let role = OperatorRole.editor

        @Argument(help: "Its identifier, such as iCloud.com.example.notes. Case-sensitive.") var identifier: String
        @OptionGroup(title: "Options of all commands") var options: AdminOptions

        func run(_ console: Console) async throws {
            let key = try console.key(identifier)
            if try await console.store.container(key.identifier, key.environment) != nil {
                throw try await refusal(key, console)
            }
            try console.plan("create \(identifier) in \(key.environment.name)")
            guard try await console.store.createContainer(key) else { throw try await refusal(key, console) }
            console.say("Created \(identifier) in \(key.environment.name).")
        }

        private func refusal(_ key: ContainerKey, _ console: Console) async throws -> AdminFailure {
            guard try await !console.store.isClosed(key) else {
                return AdminFailure(
                    .refused,
                    "The container \(identifier) is being deleted in \(key.environment.name). Finish that first: tidemark "
                        + "admin containers delete \(identifier) --environment \(key.environment.name)")
            }
            return AdminFailure(
                .refused,
                "There is already a container \(identifier) in \(key.environment.name). Use it, or choose another "
                    + "identifier.")
        }
    }

    private static var columns: [Column<AdminStore.Container>] {
        [
            Column("CONTAINER", key: "container", isName: true) { .text($0.key.identifier) },
            Column("ENVIRONMENT", key: "environment") { .text($0.key.environment.name) },
            Column("CREATED", key: "created") { .date($0.createdAt) },
            Column("USERS", key: "users") { .number($0.userCount) },
            Column("REFERENCES", key: "referencesMax") { .optional($0.referencesMax) },
            Column("FEEDS", key: "feeds") { .text(FeedPlaces(isEverywhere: $0.feedsEverywhere).rawValue) },
            Column("STATE", key: "state") { .text($0.isClosed ? "closed" : "open") },
        ]
    }
}

/// Which zones of a container have change feeds (R-202).
enum FeedPlaces: String, ExpressibleByArgument, CaseIterable {
    case customZones = "custom-zones"
    case everywhere

    init(isEverywhere: Bool) { self = isEverywhere ? .everywhere : .customZones }
}

extension AdminContainers {
    struct SetFeeds: AdminCommand {
        static let configuration = CommandConfiguration(
            "set-feeds", abstract: "Choose which zones of a container have change feeds.",
            discussion: """
                custom-zones: only the custom zones of private databases, as in CloudKit. everywhere: also the default zones \
                and the public database, whose feeds tell each user about the records that the user may read. Servers use the \
                choice from the next request on. Devices get pushes for their default zone from their next connection on.
                """,
            examples: "tidemark admin containers set-feeds iCloud.com.example.notes everywhere")
        static let role = OperatorRole.editor

        @Argument(help: "The container's identifier.", completion: .live(.containers)) var identifier: String
        @Argument(help: "custom-zones or everywhere.") var places: FeedPlaces
        @OptionGroup(title: "Options of all commands") var options: AdminOptions

        func run(_ console: Console) async throws {
            let key = try console.key(identifier)
            guard try await console.store.container(key.identifier, key.environment) != nil else {
                throw AdminFailure.noContainer(key)
            }
            let isOn = places == .everywhere
            let words = isOn ? "everywhere" : "of custom zones"
            try console.plan("let \(identifier), \(key.environment.name), have feeds \(words)")
            guard try await console.store.setFeedsEverywhere(isOn, in: key) else { throw AdminFailure.noContainer(key) }
            console.say("\(identifier), \(key.environment.name): feeds \(words).")
        }
    }

    struct SetLimit: AdminCommand {
        static let configuration = CommandConfiguration(
            "set-limit", abstract: "Set a container's own limits.",
            discussion: """
                They hold from the next request on. The limit of requests is of each account in this container, at each \
                server. It takes the place of what serve allows each account (--requests-per-second), and none is any number. \
                A limit of the account's own holds as well.
                """,
            examples: "tidemark admin containers set-limit iCloud.com.example.notes --references 2000",
            "tidemark admin containers set-limit iCloud.com.example.notes --requests-per-second 20")
        static let role = OperatorRole.editor

        @Argument(help: "The container's identifier.", completion: .live(.containers)) var identifier: String
        @Option(
            help: ArgumentHelp(
                "References with the action deleteSelf that may point to one record; 0 for the server's limit.",
                valueName: "count"))
        var references: Int?
        @OptionGroup var rate: RateOptions
        @OptionGroup(title: "Options of all commands") var options: AdminOptions

        func validate() throws {
            guard references != nil || rate.isGiven else {
                throw ValidationError("Give --references, --requests-per-second or both.")
            }
            guard (0...Int(Int32.max)).contains(references ?? 0) else {
                throw ValidationError("--references must be between 0 and \(Int32.max).")
            }
        }

        func run(_ console: Console) async throws {
            let key = try console.key(identifier)
            guard try await console.store.container(key.identifier, key.environment) != nil else {
                throw AdminFailure.noContainer(key)
            }
            let referencesMax = references == 0 ? nil : references
            var parts: [String] = []
            if references != nil {
                parts.append("\(referencesMax.map { "\($0)" } ?? "the server's limit of") references to one record")
            }
            if let choice = try rate.choice() {
                parts.append("\(choice.words(standard: "as many requests as its servers allow")) of each account")
            }
            let words = parts.joined(separator: ", ")
            try console.plan("let \(identifier), \(key.environment.name), have \(words)")
            if references != nil {
                guard try await console.store.setReferencesMax(referencesMax, of: key) else {
                    throw AdminFailure.noContainer(key)
                }
            }
            if let choice = try rate.choice() {
                guard try await console.store.setRequestRate(choice, in: key) else {
                    throw AdminFailure.noContainer(key)
                }
            }
            console.say("\(identifier), \(key.environment.name): \(words).")
        }
    }
}
