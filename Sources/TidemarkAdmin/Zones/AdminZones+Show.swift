// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import TidemarkDomain
internal import TidemarkStore

extension AdminZones {
    struct Show: AdminCommand {
        static let configuration = CommandConfiguration(
            "show", abstract: "Show a zone in numbers.",
            discussion: """
                HEAD is the number of the zone's newest change. Change tokens below OLDEST TOKEN are expired. FEED is the change \
                up to which the database's feed has told of the zone.
                """,
            examples: "tidemark admin zones show alice Notes --container iCloud.com.example.notes -o wide")
        static let role = OperatorRole.viewer

        @Argument(help: "The account's name.", completion: .live(.accounts)) var account: String
        @Argument(help: "The zone's name.", completion: .live(.zones)) var zone: String
        @OptionGroup(title: "Options of all commands") var options: AdminOptions

        /// A zone, as it is shown.
        private struct Row: Sendable {
            let name: String
            let details: AdminStore.ZoneDetails
            let counts: (living: Int, deleted: Int)
        }

        func run(_ console: Console) async throws {
            let key = ZoneKey(database: try await console.privateDatabase(ofAccount: account), name: zone)
            guard let details = try await console.store.details(of: key) else {
                throw AdminFailure.noZone(zone, of: account)
            }
            let counts = try await console.store.recordCounts(of: details.id, in: key.database)
            try await console.show([Row(name: zone, details: details, counts: counts)], as: Self.columns)
        }

        private static let columns: [Column<Row>] = [
            Column("ZONE", key: "zone", isName: true) { .text($0.name) },
            Column("HEAD", key: "head") { .number(Int($0.details.changeNumber)) },
            Column("RECORDS", key: "records") { .number($0.counts.living) },
            Column("TOMBSTONES", key: "tombstones") { .number($0.counts.deleted) },
            Column("BYTES", key: "recordBytes") { .number(Int($0.details.recordBytes)) },
            Column("KEYS", key: "keys") { .number($0.details.keyCount) },
            Column("SHARES", key: "shares") { .number($0.details.shareCount) },
            Column("SUBSCRIPTIONS", key: "subscriptions") { .number($0.details.subscriptionCount) },
            Column("CREATED", key: "created", wide: true) { .date($0.details.createdAt) },
            Column("FEED", key: "feed", wide: true) { .optional($0.details.seenByFeed.map { Int($0) }) },
            Column("OLDEST TOKEN", key: "oldestToken", wide: true) { .number(Int($0.details.oldestTokenNumber)) },
            Column("TOMBSTONE BYTES", key: "tombstoneBytes", wide: true) { .number(Int($0.details.tombstoneBytes)) },
            Column("LARGEST RECORD", key: "largestRecordBytes", wide: true) {
                .number(Int($0.details.largestRecordBytes))
            },
            Column("ENCRYPTION", key: "encryption", wide: true) {
                .text($0.details.encryptionScope == .perZone ? "per zone" : "per record")
            },
            Column("PARTICIPANTS", key: "participants", wide: true) { .number($0.details.participantCount) },
            Column("CLIENT TOKENS", key: "clientTokens", wide: true) { .number($0.details.clientTokenCount) },
        ]
    }

    struct Delete: AdminCommand {
        static let configuration = CommandConfiguration(
            "delete", abstract: "Delete a zone with its records, as its user's app would.",
            discussion: """
                Devices delete their copies (reason: deleted). An app that still uses the zone may create it again. For a user \
                who wants the data gone there is purge.
                """,
            examples: "tidemark admin zones delete alice Notes --container iCloud.com.example.notes --dry-run")
        static let role = OperatorRole.editor

        @Argument(help: "The account's name.", completion: .live(.accounts)) var account: String
        @Argument(help: "The zone's name.", completion: .live(.zones)) var zone: String
        @OptionGroup(title: "Options of all commands") var options: AdminOptions

        func run(_ console: Console) async throws {
            try await AdminZones.end(zone, of: account, .deleted, console)
            console.say("Deleted \(zone).")
        }
    }
}

extension AdminFailure {
    static func noZone(_ zone: String, of account: String) -> AdminFailure {
        AdminFailure(.refused, "\(account) has no zone \(zone). See: tidemark admin zones list \(account)")
    }
}
