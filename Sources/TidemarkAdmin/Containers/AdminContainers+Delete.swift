// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import TidemarkDomain
internal import TidemarkStore

extension AdminContainers {
    struct Delete: AdminCommand {
        static let configuration = CommandConfiguration(
            "delete", abstract: "Delete a container's environment with all that it holds.",
            discussion: """
                The container is closed first: servers close its connections, nobody connects to it, and nothing is stored in \
                it. Then all databases are emptied: zones, records, shares, subscriptions, roles, keys, the schema and the \
                container's limits and quotas go. The files of its assets go with the next collection of a server. Accounts \
                and their devices stay. Devices keep what they have not sent, and get an error until the container is \
                created again. A server for development creates it when a device names it. If the command is cut off, the \
                container stays closed: run it again. All servers must run this version.
                """,
            examples: "tidemark admin containers delete iCloud.com.example.notes --dry-run",
            "tidemark admin containers delete iCloud.com.example.notes --environment production",
            "tidemark admin containers delete iCloud.com.example.notes --both-environments")
        static let role = OperatorRole.owner

        @Argument(help: "The container's identifier.", completion: .live(.containers)) var identifier: String
        @Flag(help: "Delete development and production.") var bothEnvironments = false
        @OptionGroup(title: "Options of all commands") var options: AdminOptions

        func validate() throws {
            guard !bothEnvironments || options.environment == nil else {
                throw ValidationError("Give either --environment or --both-environments.")
            }
        }

        func run(_ console: Console) async throws {
            let named = try console.key(identifier)
            let environments = bothEnvironments ? [.development, .production] : [named.environment]
            var removals: [(removal: ContainerRemoval, loss: String)] = []
            for environment in environments {
                let key = ContainerKey(identifier: identifier, environment: environment)
                // Before the numbers: they are never of an older one.
                guard let createdAt = try await console.store.createdAt(of: key),
                    let contents = try await console.store.contents(of: key)
                else { continue }
                let removal = ContainerRemoval(key: key, createdAt: createdAt)
                removals.append((removal, ContainerRemoval.loss(contents, in: key)))
            }
            guard !removals.isEmpty else { throw AdminFailure.noContainer(named) }
            let names = removals.map { $0.removal.key.environment.name }.joined(separator: " and ")
            try await console.confirm(
                "delete the container \(identifier), \(names)",
                loss: removals.map(\.loss).joined(separator: " ") + " All of it will be lost.", typing: identifier)
            for (removal, _) in removals { try await removal.run(console) }
        }
    }
}

/// Deletes one environment of a container (R-915). It can be repeated after it was cut off.
struct ContainerRemoval: Sendable {
    let key: ContainerKey
    /// Of the container that the operator has confirmed.
    let createdAt: Timestamp

    /// Users between two lines of progress.
    private static let usersOfProgress = 50

    /// What it holds, in numbers.
    static func loss(_ contents: ContainerContents, in key: ContainerKey) -> String {
        let parts = [
            Amount.text(contents.userCount, "user"),
            "\(Amount.zones(contents.zoneCount)) with \(Amount.records(contents.recordCount))",
            "\(Amount.bytes(contents.recordBytes + contents.assetBytes)) with assets",
            Amount.text(contents.shareCount, "share"), Amount.text(contents.subscriptionCount, "subscription"),
            Amount.text(contents.recordTypeCount, "record type"),
        ]
        return "It has in \(key.environment.name) \(parts.joined(separator: ", "))."
    }

    func run(_ console: Console) async throws {
        try await checkIsConfirmed(in: console.store)
        guard let closed = try await console.store.closeContainer(key) else { throw AdminFailure.noContainer(key) }
        let isDone: Bool
        do {
            isDone = try await console.store.deleteContainer(closed) { count in
                if count % Self.usersOfProgress == 1 {
                    console.screen.showProgress("\(Amount.text(count, "user")) of \(words)")
                }
            }
        } catch {
            throw AdminFailure(
                error,
                done: "\(words) is closed, and a part of it may be deleted. Run the command again for the rest.")
        }
        guard isDone else { return try await otherEnd(console) }
        console.say("Deleted \(words).")
    }

    /// Another operator may have deleted it while this one was asked, and somebody may have created it again.
    func checkIsConfirmed(in store: AdminStore) async throws {
        guard try await store.createdAt(of: key) == createdAt else {
            throw AdminFailure(
                .refused,
                "\(words) was deleted or created again meanwhile. Nothing of it was deleted. Run the command again.")
        }
    }

    /// Another operator has deleted it at the same time.
    private func otherEnd(_ console: Console) async throws {
        guard try await console.store.container(key.identifier, key.environment) == nil else {
            throw AdminFailure(
                .refused,
                "\(words) was deleted by somebody else meanwhile, and has been created again. Nothing of the new one was "
                    + "deleted. To delete it too, run the command again.")
        }
        console.say("\(words) was deleted by somebody else meanwhile.")
    }

    private var words: String { "\(key.identifier), \(key.environment.name)" }
}
