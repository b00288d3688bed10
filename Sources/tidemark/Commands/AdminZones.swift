// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import TidemarkDomain
internal import TidemarkStore

struct AdminZones: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "zones", abstract: "Zones of an account's private database.",
        subcommands: [List.self, Purge.self, ResetEncrypted.self])

    /// The owner of the private database.
    struct Owner: ParsableArguments {
        @Option(help: ArgumentHelp("The account's name.", valueName: "name")) var account: String
        @Option(help: ArgumentHelp("The container's identifier.", valueName: "identifier")) var container: String
        @OptionGroup var environment: EnvironmentOption

        /// - Throws: ``CommandError`` if the account has none there.
        func database(_ store: AdminStore) async throws -> DatabaseID {
            let key = try environment.key(container)
            guard let database = try await store.privateDatabase(ofAccount: account, in: key) else {
                throw CommandError(
                    "\(account) has no data in \(container), \(key.environment.name). "
                        + "See: tidemark admin accounts list, tidemark admin containers list")
            }
            return database
        }
    }

    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List an account's zones, including ended ones as long as they are known.")

        @OptionGroup var owner: Owner
        @OptionGroup var database: DatabaseOption

        func run() throws {
            let owner = owner
            let zones = try database.withAdminStore { store in
                try await store.zones(in: try await owner.database(store))
            }
            Table.print(
                ["ZONE", "CREATED", "CHANGES", "ENDED", "REASON"],
                zones.map { zone in
                    [
                        zone.name, Table.date(zone.createdAt), "\(zone.changeNumber)",
                        zone.removedAt.map(Table.date) ?? "-", zone.removal?.name ?? "-",
                    ]
                })
        }
    }

    struct Purge: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Delete a zone whose user wants its data deleted.",
            discussion: "Devices delete their copies. They ask the user before they upload any (reason: purged).")

        @Argument(help: "The zone's name.") var zone: String
        @OptionGroup var owner: Owner
        @OptionGroup var database: DatabaseOption

        func run() throws {
            try AdminZones.end(zone, of: owner, .purged, database)
            print("Purged \(zone).")
        }
    }

    struct ResetEncrypted: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Delete a zone whose encrypted data can no longer be read, because its keys are lost.",
            discussion: "Devices create it again and upload what they have (reason: encryptedDataReset).")

        @Argument(help: "The zone's name.") var zone: String
        @OptionGroup var owner: Owner
        @OptionGroup var database: DatabaseOption

        func run() throws {
            try AdminZones.end(zone, of: owner, .encryptedDataReset, database)
            print("Reset \(zone).")
        }
    }

    private static func end(
        _ zone: String, of owner: Owner, _ reason: ZoneRemovalReason, _ database: DatabaseOption
    ) throws {
        let wasThere = try database.withAdminStore { store in
            let key = ZoneKey(database: try await owner.database(store), name: zone)
            return try await store.endZone(key, reason: reason)
        }
        guard wasThere else {
            throw CommandError(
                "\(owner.account) has no zone \(zone) that could be deleted. See: tidemark admin zones list "
                    + "--account \(owner.account) --container \(owner.container)")
        }
    }
}

extension ZoneRemovalReason {
    fileprivate var name: String {
        switch self {
        case .deleted: "deleted"
        case .purged: "purged"
        case .encryptedDataReset: "encryptedDataReset"
        }
    }
}
