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
            change a record may also delete it. In the public database BY ROLE says which role gives which right. With \
            --type it also answers for a record that does not exist yet: whether the account may create it.
            """,
        examples: "tidemark admin explain bob shopping --database alice --zone Notes",
        "tidemark admin explain bob page-1 --container iCloud.com.example.notes",
        "tidemark admin explain bob page-2 --type Page")
    static let role = OperatorRole.viewer

    @Argument(help: "The account's name.", completion: .live(.accounts)) var account: String
    @Argument(help: "The record's name.") var record: String
    @Option(help: "The record's zone.", completion: .live(.zones)) var zone = ZoneName.default
    @Option(
        help: ArgumentHelp(
            "The record's database: public, or an account's name for its private database.", valueName: "database"),
        completion: .live(.databases))
    var database: DatabaseArgument = .public
    @Option(help: ArgumentHelp("The type of a record that does not exist yet.", valueName: "type")) var type: String?
    @OptionGroup(title: "Options of all commands") var options: AdminOptions

    func run(_ console: Console) async throws {
        let explained = try await explain(console)
        try await console.show(
            [explained],
            as: [
                Column("MAY", key: "may") { .text($0.verdict.permissions.words) },
                Column("RULE", key: "rule", isName: true) { .text($0.verdict.reason.rule) },
                Column("BECAUSE", key: "because") { .text($0.verdict.reason.text) },
                Column("BY ROLE", key: "byRole") { explained in
                    .object(explained.rights.map { ($0.role.name, .text($0.permissions.words)) })
                },
            ])
        // What it may do is one thing, whether it can connect is another.
        let facts = try await console.store.accountFacts(of: try await console.account(account))
        for finding in facts.findings(at: console.now) { console.say("\(finding.sentence) \(finding.remedy)") }
    }

    /// What an account may do, and by which of its roles.
    private struct Explained: Sendable {
        let verdict: AccessVerdict
        let rights: [(role: Role, permissions: Permissions)]
    }

    private var databaseText: String {
        switch database {
        case .public: "the public database"
        case .private(let owner): "the private database of \(owner)"
        }
    }

    private func explain(_ console: Console) async throws -> Explained {
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
                .refused,
                "There is no zone \(zone) in \(databaseText). Name the record's database with --database, and its zone "
                    + "with --zone.")
        }
        let recordPlace = try recordPlace(in: snapshot)
        // an invitation of an address is for whoever has it verified.
        let addresses = access.scope == .shared ? try await storage.addresses(of: user.id) : []
        return Explained(
            verdict: access.verdict(on: recordPlace, in: snapshot.sharing, addresses: addresses),
            rights: access.rights(on: recordPlace))
    }

    private func recordPlace(in snapshot: ZoneSnapshot) throws -> RecordPlace {
        if let found = snapshot.records[record], !found.isDeleted { return RecordPlace(of: found) }
        guard let type else {
            throw AdminFailure(
                .refused,
                "There is no record \(record) in the zone \(zone) of \(databaseText). If it is elsewhere, name its database "
                    + "with --database, and its zone with --zone. With --type it says whether the account may create it."
            )
        }
        return RecordPlace(type: type, creator: nil)
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
