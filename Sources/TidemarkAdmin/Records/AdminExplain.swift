// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import TidemarkDomain
internal import TidemarkService
internal import TidemarkStore

struct AdminExplain: AdminCommand {
    static let configuration = CommandConfiguration(
        "explain", abstract: "Say what an account may do with a record, and which rule says so.",
        discussion: """
            The answer comes from the function that decides every request. The rules are in Tests/RULES.md. Whoever may \
            change a record may also delete it.
            """,
        examples: "tidemark admin explain bob shopping --database alice --zone Notes",
        "tidemark admin explain bob page-1 --container iCloud.com.example.notes")
    static let role = OperatorRole.viewer

    @Argument(help: "The account's name.") var account: String
    @Argument(help: "The record's name.") var record: String
    @Option(help: "The record's zone.") var zone = ZoneName.default
    @Option(
        help: ArgumentHelp(
            "The record's database: public, or an account's name for its private database.", valueName: "database"))
    var database: DatabaseArgument = .public
    @OptionGroup(title: "Options of all commands") var options: AdminOptions

    func run(_ console: Console) async throws {
        let verdict = try await verdict(console)
        try await console.show(
            [verdict],
            as: [
                Column("MAY", key: "may") { .text($0.permissions.words) },
                Column("RULE", key: "rule", isName: true) { .text($0.reason.rule) },
                Column("BECAUSE", key: "because") { .text($0.reason.text) },
            ])
    }

    private func verdict(_ console: Console) async throws -> AccessVerdict {
        let storage = console.storage
        let place = try await console.place(database)
        // An account that was never in the container is not made a user of it here.
        _ = try await console.privateDatabase(ofAccount: account)
        let user = try await console.user(ofAccount: account)
        let key = ZoneKey(database: place.database, name: zone)
        let access = try await access(of: user, at: place, storage)
        let snapshot = try await storage.records(
            named: [record], in: key, bytesMax: 0, sharing: access.scope == .shared ? .whole : .nothing)
        guard snapshot.zone != nil else {
            throw AdminFailure(
                .refused, "There is no zone \(zone) in this database. Name the record's zone with --zone.")
        }
        guard let found = snapshot.records[record], !found.isDeleted else {
            throw AdminFailure(.refused, "There is no record \(record) in the zone \(zone) of this database.")
        }
        // an invitation of an address is for whoever has it verified.
        let addresses = access.scope == .shared ? try await storage.addresses(of: user.id) : []
        return access.verdict(on: RecordPlace(of: found), in: snapshot.sharing, addresses: addresses)
    }

    private func access(
        of user: AdminStore.User, at place: RecordsPlace, _ storage: PostgresStorage
    ) async throws -> RecordAccess {
        switch database {
        case .private where place.user?.id == user.id: return .owner(user.id)
        case .private: return RecordAccess(scope: .shared, user: user.id)
        case .public:
            let grants = try await storage.schema(of: place.container).schema.types.mapValues(\.grants)
            let roles = try await storage.roles(of: [user.id])[user.id] ?? []
            return RecordAccess(scope: .public, user: user.id, grants: grants, roles: roles)
        }
    }
}

extension Permissions {
    fileprivate var words: String {
        let names: [(Permissions, String)] = [(.read, "read"), (.write, "change"), (.create, "create")]
        let words = names.filter { contains($0.0) }.map(\.1)
        return words.isEmpty ? "nothing" : words.joined(separator: ", ")
    }
}
