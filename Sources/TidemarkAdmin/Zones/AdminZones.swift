// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import TidemarkDomain
internal import TidemarkStore

struct AdminZones: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "zones", abstract: "Zones of an account's private database.",
        subcommands: [List.self, Show.self, Delete.self, Purge.self, ResetEncrypted.self])

    struct List: AdminCommand {
        static let configuration = CommandConfiguration(
            "list", abstract: "List an account's zones, including ended ones as long as they are known.",
            examples: "tidemark admin zones list alice --container iCloud.com.example.notes")
        static let role = OperatorRole.viewer

        @Argument(help: "The account's name.", completion: .live(.accounts)) var account: String
        @OptionGroup(title: "Options of all commands") var options: AdminOptions

        func run(_ console: Console) async throws {
            let zones = try await console.store.zones(in: try await console.privateDatabase(ofAccount: account))
            try await console.show(
                zones,
                as: [
                    Column("ZONE", key: "zone", isName: true) { .text($0.name) },
                    Column("CREATED", key: "created") { .date($0.createdAt) },
                    Column("CHANGES", key: "changes") { .number(Int($0.changeNumber)) },
                    Column("ENDED", key: "ended") { .optional($0.removedAt) },
                    Column("REASON", key: "reason") { .optional($0.removal?.name) },
                ])
        }
    }

    struct Purge: AdminCommand {
        static let configuration = CommandConfiguration(
            "purge", abstract: "Delete a zone whose user wants its data deleted.",
            discussion: "Devices delete their copies. They ask the user before they upload any (reason: purged).",
            examples: "tidemark admin zones purge alice Notes --container iCloud.com.example.notes")
        static let role = OperatorRole.owner

        @Argument(help: "The account's name.", completion: .live(.accounts)) var account: String
        @Argument(help: "The zone's name.", completion: .live(.zones)) var zone: String
        @OptionGroup(title: "Options of all commands") var options: AdminOptions

        func run(_ console: Console) async throws {
            try await AdminZones.end(zone, of: account, .purged, console)
            console.say("Purged \(zone).")
        }
    }

    struct ResetEncrypted: AdminCommand {
        static let configuration = CommandConfiguration(
            "reset-encrypted",
            abstract: "Delete a zone whose encrypted data can no longer be read, because its keys are lost.",
            discussion: "Devices create it again and upload what they have (reason: encryptedDataReset).",
            examples: "tidemark admin zones reset-encrypted alice Notes --container iCloud.com.example.notes")
        static let role = OperatorRole.owner

        @Argument(help: "The account's name.", completion: .live(.accounts)) var account: String
        @Argument(help: "The zone's name.", completion: .live(.zones)) var zone: String
        @OptionGroup(title: "Options of all commands") var options: AdminOptions

        func run(_ console: Console) async throws {
            try await AdminZones.end(zone, of: account, .encryptedDataReset, console)
            console.say("Reset \(zone).")
        }
    }

    static func end(
        _ zone: String, of account: String, _ reason: ZoneRemovalReason, _ console: Console
    ) async throws {
        let key = ZoneKey(database: try await console.privateDatabase(ofAccount: account), name: zone)
        let missing = AdminFailure(
            .refused,
            "\(account) has no zone \(zone) that could be deleted. See: tidemark admin zones list \(account)")
        guard zone != ZoneName.default, let content = try await console.store.content(of: key) else { throw missing }
        try await console.confirm("delete the zone \(zone) of \(account)", loss: content.loss, typing: zone)
        guard try await console.store.endZone(key, reason: reason) else { throw missing }
    }
}

extension AdminStore.ZoneContent {
    /// In words.
    fileprivate var loss: String {
        let people =
            participantCount > 0 ? " \(Amount.people(participantCount)) with whom it is shared will lose it." : ""
        return "The zone has \(Amount.records(recordCount)), \(Amount.bytes(byteCount)).\(people)"
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
