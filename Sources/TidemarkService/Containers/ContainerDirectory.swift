// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import TidemarkDomain

/// A cache of facts that never change: where public databases are, how users are named, and whose a private database is.
final class ContainerDirectory: Sendable {
    private struct State {
        var publicDatabases: [ContainerKey: PublicDatabase] = [:]
        var userNames: [UserID: String] = [:]
        var owners: [DatabaseID: ZoneOwner] = [:]
        var ownersByName: [OwnerName: ZoneOwner] = [:]
    }

    /// Two containers may have users of one name.
    private struct OwnerName: Hashable {
        let container: ContainerKey
        let name: String
    }

    /// The most entries of each kind. Past it all are forgotten (I-7); each then costs one read.
    private static let entriesMax = 50_000
    private let state = Mutex(State())

    func publicDatabase(of container: ContainerKey) -> PublicDatabase? {
        state.withLock { $0.publicDatabases[container] }
    }

    func learn(_ database: PublicDatabase, of container: ContainerKey) {
        state.withLock { state in
            if state.publicDatabases.count >= Self.entriesMax { state.publicDatabases = [:] }
            state.publicDatabases[container] = database
        }
    }

    func userNames(of users: some Sequence<UserID>) -> [UserID: String] {
        state.withLock { state in
            Dictionary(users.compactMap { user in state.userNames[user].map { (user, $0) } }) { first, _ in first }
        }
    }

    func learn(_ names: [UserID: String]) {
        state.withLock { state in
            if state.userNames.count >= Self.entriesMax { state.userNames = [:] }
            state.userNames.merge(names) { $1 }
        }
    }

    /// Those of the owners with these record names that are known.
    func owners(named names: some Sequence<String>, in container: ContainerKey) -> [String: ZoneOwner] {
        state.withLock { state in
            var found: [String: ZoneOwner] = [:]
            for name in names { found[name] = state.ownersByName[OwnerName(container: container, name: name)] }
            return found
        }
    }

    func learn(_ owners: [String: ZoneOwner], of container: ContainerKey) {
        state.withLock { state in
            if state.ownersByName.count >= Self.entriesMax { state.ownersByName = [:] }
            for (name, owner) in owners {
                state.ownersByName[OwnerName(container: container, name: name)] = owner
            }
        }
    }

    /// Those of the owners of these private databases that are known.
    func owners(of databases: some Sequence<DatabaseID>) -> [DatabaseID: ZoneOwner] {
        state.withLock { state in
            var found: [DatabaseID: ZoneOwner] = [:]
            for database in databases { found[database] = state.owners[database] }
            return found
        }
    }

    func learn(_ owners: [DatabaseID: ZoneOwner]) {
        state.withLock { state in
            if state.owners.count >= Self.entriesMax { state.owners = [:] }
            state.owners.merge(owners) { $1 }
        }
    }
}
