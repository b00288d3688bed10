// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import TidemarkDomain
internal import TidemarkPostgres
internal import TidemarkService

/// Remembers which databases are shared databases, and of which users. It also remembers the accounts of users. All of this
/// never changes.
final class SharedDatabases: Sendable {
    private enum Kind {
        case shared(UserID)
        case other
    }

    /// The most entries, which take a few megabytes. With more, all are dropped.
    private static let countMax = 100_000

    private let known = Mutex<[DatabaseID: Kind]>([:])
    private let accounts = Mutex<[UserID: AccountID]>([:])

    /// A device has signed in, and will ask for its databases.
    func remember(_ identity: Identity) {
        remember([
            (identity.privateDatabase, nil), (identity.sharedDatabase, identity.user),
        ])
        accounts.withLock { accounts in
            if accounts.count >= Self.countMax { accounts = [:] }
            accounts[identity.user] = identity.account
        }
    }

    /// Nil for a user who has not signed in here.
    func account(of user: UserID) -> AccountID? { accounts.withLock { $0[user] } }

    func remember(_ more: [(database: DatabaseID, user: UserID?)]) {
        known.withLock { known in
            if known.count + more.count > Self.countMax { known = [:] }
            for (database, user) in more { known[database] = user.map(Kind.shared) ?? .other }
        }
    }

    /// The users whose shared databases are among these, and the databases that are not known.
    func users(among databases: [DatabaseID]) -> (users: [DatabaseID: UserID], unknown: [DatabaseID]) {
        known.withLock { known in
            var users: [DatabaseID: UserID] = [:]
            var unknown: [DatabaseID] = []
            for database in databases {
                switch known[database] {
                case .shared(let user): users[database] = user
                case .other: break
                case nil: unknown.append(database)
                }
            }
            return (users, unknown)
        }
    }
}

extension PostgresStorage {
    /// The users whose shared databases are among these. It takes a round trip if some are not known to this server.
    func viewers(among databases: [DatabaseID]) async throws(StorageError) -> [DatabaseID: UserID] {
        var (users, unknown) = sharedDatabases.users(among: databases)
        guard !unknown.isEmpty else { return users }
        let rows = try await read(sql.sharing.viewers(unknown))
        sharedDatabases.remember(rows)
        for row in rows { users[row.database] = row.user }
        return users
    }
}
