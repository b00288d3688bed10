// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import TidemarkDomain

/// A cache of facts that never change: where public databases are, and how users are named.
final class ContainerDirectory: Sendable {
    private struct State {
        var publicDatabases: [ContainerKey: PublicDatabase] = [:]
        var userNames: [UserID: String] = [:]
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
}
