// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import TidemarkDomain
internal import TidemarkService
internal import TidemarkStore

/// The database and the zone of the records.
struct RecordsOption: ParsableArguments {
    @OptionGroup var container: ContainerOption
    @Option(help: ArgumentHelp("public, or private:ACCOUNT.", valueName: "database"))
    var database: DatabaseChoice = .public

    var key: ContainerKey {
        ContainerKey(identifier: container.identifier, environment: container.environment.value)
    }

    /// - Parameter creator: the account that is named as the creator of records saved in the public database.
    /// - Throws: ``CommandError`` for a container or an account that does not exist.
    func place(in store: AdminStore, _ service: CloudService, now: Timestamp, creator: String? = nil) async throws
        -> RecordsPlace
    {
        let id = try await container.find(in: store)
        let account: String?
        switch database {
        case .public: account = creator
        case .private(let name): account = name
        }
        var user: AdminStore.User?
        if let account {
            _ = try await AccountName.find(account, in: store)
            user = try await store.user(ofAccount: account, in: key, now: now)
        }
        switch database {
        case .public:
            switch await service.publicDatabase(of: key) {
            case .success(let found): return RecordsPlace(container: id, database: found.database, user: user)
            case .failure(let reason): throw CommandError(reason.text)
            }
        case .private:
            guard let user else { throw Self.noDatabase(account, in: key) }
            return RecordsPlace(container: id, database: user.privateDatabase, user: user)
        }
    }

    /// - Parameter account: nil if none was named.
    static func noDatabase(_ account: String?, in key: ContainerKey) -> CommandError {
        CommandError(
            "\(account.map { "The account \($0) has no data" } ?? "Nobody has data") in \(key.identifier), \(key.environment.name). See: "
                + "tidemark admin accounts list, tidemark admin containers list")
    }
}

/// One of a container's databases, and the user who acts in it.
struct RecordsPlace: Sendable {
    let container: ContainerID
    let database: DatabaseID
    /// Nil for no user, who can only read.
    let user: AdminStore.User?

    /// An operator may do everything, whatever the grants are.
    var access: RecordAccess { .owner(user?.id ?? Self.nobody) }

    /// An ID that no user has.
    private static let nobody = UserID(0)
}

/// A database on a command line.
enum DatabaseChoice: ExpressibleByArgument, Equatable {
    case `public`
    case `private`(account: String)

    init?(argument: String) {
        let mark = "private:"
        if argument == "public" {
            self = .public
        } else if argument.hasPrefix(mark), argument.count > mark.count {
            self = .private(account: String(argument.dropFirst(mark.count)))
        } else {
            return nil
        }
    }

    var defaultValueDescription: String {
        switch self {
        case .public: "public"
        case .private(let account): "private:\(account)"
        }
    }
}
