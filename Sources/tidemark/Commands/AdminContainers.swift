// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import TidemarkDomain
internal import TidemarkStore

struct AdminContainers: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "containers", abstract: "Containers: the apps whose data is stored.",
        subcommands: [Create.self, List.self, SetLimit.self, SetFeeds.self, Quota.self])

    struct Create: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Create a container, so that its app's accounts can connect.")

        @Argument(help: "Its identifier, such as iCloud.com.example.notes. Case-sensitive.") var identifier: String
        @OptionGroup var environment: EnvironmentOption
        @OptionGroup var database: DatabaseOption

        func run() throws {
            let key = try environment.key(identifier)
            guard try database.withAdminStore({ try await $0.createContainer(key) }) else {
                throw CommandError(
                    "There is already a container \(identifier) in \(key.environment.name). Use it, or choose another identifier."
                )
            }
            print("Created \(identifier) in \(key.environment.name).")
        }
    }

    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List all containers.")

        @OptionGroup var database: DatabaseOption

        func run() throws {
            let containers = try database.withAdminStore { try await $0.containers() }
            Table.print(
                ["CONTAINER", "ENVIRONMENT", "CREATED", "USERS", "REFERENCES", "FEEDS"],
                containers.map { container in
                    [
                        container.key.identifier, container.key.environment.name, Table.date(container.createdAt),
                        "\(container.userCount)", container.referencesMax.map { "\($0)" } ?? "default",
                        (container.feedsEverywhere ? FeedPlaces.everywhere : .customZones).rawValue,
                    ]
                })
        }
    }

    /// Which zones of a container have change feeds (R-202).
    enum FeedPlaces: String, ExpressibleByArgument, CaseIterable {
        case customZones = "custom-zones"
        case everywhere
    }

    struct SetFeeds: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "set-feeds", abstract: "Choose which zones of a container have change feeds.",
            discussion: """
                custom-zones: only the custom zones of private databases, as in CloudKit. everywhere: also the default zones \
                and the public database, whose feeds tell each user about the records that the user may read. Servers use the \
                choice from the next request on. Devices get pushes for their default zone from their next connection on.
                """)

        @Argument(help: "The container's identifier.") var identifier: String
        @Argument(help: "custom-zones or everywhere.") var places: FeedPlaces
        @OptionGroup var environment: EnvironmentOption
        @OptionGroup var database: DatabaseOption

        func run() throws {
            let key = try environment.key(identifier)
            let isOn = places == .everywhere
            guard try database.withAdminStore({ try await $0.setFeedsEverywhere(isOn, in: key) }) else {
                throw AdminContainers.missing(key)
            }
            print("\(identifier), \(key.environment.name): feeds \(isOn ? "everywhere" : "of custom zones").")
        }
    }

    static func missing(_ key: ContainerKey) -> CommandError {
        CommandError(
            "There is no container \(key.identifier) in \(key.environment.name). Create it: "
                + "tidemark admin containers create \(key.identifier) --environment \(key.environment.name)")
    }

    struct SetLimit: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "set-limit", abstract: "Set a container's own limits.",
            discussion: "They hold from the next request on.")

        @Argument(help: "The container's identifier.") var identifier: String
        @OptionGroup var environment: EnvironmentOption
        @Option(
            help: ArgumentHelp(
                "References with the action deleteSelf that may point to one record; 0 for the server's limit.",
                valueName: "count"))
        var references: Int
        @OptionGroup var database: DatabaseOption

        func validate() throws {
            guard (0...Int(Int32.max)).contains(references) else {
                throw ValidationError("--references must be between 0 and \(Int32.max).")
            }
        }

        func run() throws {
            let key = try environment.key(identifier)
            let referencesMax = references == 0 ? nil : references
            guard try database.withAdminStore({ try await $0.setReferencesMax(referencesMax, of: key) }) else {
                throw AdminContainers.missing(key)
            }
            print(
                "\(identifier): \(referencesMax.map { "\($0)" } ?? "the server's limit of") references to one record.")
        }
    }
}
