// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import TidemarkDomain
internal import TidemarkScheduling
internal import TidemarkService
internal import TidemarkSockets
internal import TidemarkStore

struct AdminExplain: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain", abstract: "Say what an account may do with a record, and which rule says so.",
        discussion: """
            The answer comes from the function that decides every request. The rules are in Tests/RULES.md. Whoever may \
            change a record may also delete it.

              tidemark admin explain bob shopping --container C --database private:alice --zone Notes
              tidemark admin explain bob page-1 --container C
            """)

    @Argument(help: "The account's name.") var account: String
    @Argument(help: "The record's name.") var record: String
    @Option(help: "The record's zone.") var zone = ZoneName.default
    @OptionGroup var records: RecordsOption
    @OptionGroup var database: DatabaseOption

    func run() throws {
        let command = self
        let verdict = try database.withStorage { storage, loop in
            try await command.verdict(storage, loop)
        }
        Table.print(
            ["MAY", "RULE", "BECAUSE"], [[verdict.permissions.words, verdict.reason.rule, verdict.reason.text]])
    }

    private func verdict(_ storage: PostgresStorage, _ loop: EventLoop) async throws -> AccessVerdict {
        let store = AdminStore(storage)
        let now = Timestamp(milliseconds: loop.wallClockMilliseconds)
        let service = CloudService(storage: storage, scheduler: loop, limits: .standard, onMoved: { _ in })
        let place = try await records.place(in: store, service, now: now)
        let user = try await user(in: store, now: now)
        let key = ZoneKey(database: place.database, name: zone)
        let access = try await access(of: user, at: place, storage)
        let snapshot = try await storage.records(
            named: [record], in: key, bytesMax: 0, sharing: access.scope == .shared ? .whole : .nothing)
        guard snapshot.zone != nil else {
            throw CommandError("There is no zone \(zone) in this database. Name the record's zone with --zone.")
        }
        guard let found = snapshot.records[record], !found.isDeleted else {
            throw CommandError("There is no record \(record) in the zone \(zone) of this database.")
        }
        // an invitation of an address is for whoever has it verified.
        let addresses = access.scope == .shared ? try await storage.addresses(of: user.id) : []
        return access.verdict(on: RecordPlace(of: found), in: snapshot.sharing, addresses: addresses)
    }

    /// - Throws: ``CommandError`` if the account was never in the container. It is not made a user of it here.
    private func user(in store: AdminStore, now: Timestamp) async throws -> AdminStore.User {
        _ = try await AccountName.find(account, in: store)
        guard try await store.privateDatabase(ofAccount: account, in: records.key) != nil,
            let user = try await store.user(ofAccount: account, in: records.key, now: now)
        else { throw RecordsOption.noDatabase(account, in: records.key) }
        return user
    }

    private func access(
        of user: AdminStore.User, at place: RecordsPlace, _ storage: PostgresStorage
    ) async throws -> RecordAccess {
        switch records.database {
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
