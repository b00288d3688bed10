// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
internal import TidemarkScheduling

extension CloudService {
    /// A container's public database, created on first use; `containerUnknown` if there is no such
    /// container.
    package func publicDatabase(of container: ContainerKey) async -> Result<PublicDatabase, FailureReason> {
        if let known = directory.publicDatabase(of: container) { return .success(known) }
        let now = Timestamp(milliseconds: scheduler.wallClockMilliseconds)
        return await retry.run { () async throws(StorageError) in
            guard let found = try await storage.publicDatabase(of: container, now: now) else {
                return .failure(.containerUnknown)
            }
            directory.learn(found, of: container)
            return .success(found)
        }
    }

    /// The container with this name, if somebody has used its public database through this server.
    package func knownContainer(_ key: ContainerKey) -> ContainerID? { directory.publicDatabase(of: key)?.container }

    /// A caller's permissions to read in a public database, by its current schema.
    ///
    /// - Parameter user: nil if nobody is signed in; then it is what the world may read.
    package func readAccess(
        to database: PublicDatabase, by user: UserID?
    ) async -> Result<RecordAccess, FailureReason> {
        await retry.run { () async throws(StorageError) in
            let known = try await schemas.current(database.container)
            var access = RecordAccess(scope: .public, user: user, grants: known.grants)
            if let user, !known.schema.schema.roles.isEmpty {
                access.roles = try await storage.roles(of: [user])[user] ?? []
            }
            return .success(access)
        }
    }

    /// The record names of these users. Users that do not exist are left out.
    package func userRecordNames(of users: Set<UserID>) async -> Result<[UserID: String], FailureReason> {
        let known = directory.userNames(of: users)
        let unknown = users.subtracting(known.keys).sorted { $0.rawValue < $1.rawValue }
        guard !unknown.isEmpty else { return .success(known) }
        return await retry.run { () async throws(StorageError) in
            let names = try await storage.userRecordNames(of: unknown)
            directory.learn(names)
            return .success(known.merging(names) { first, _ in first })
        }
    }

    /// The same without a question to the store; nil if this server does not know them all.
    package func knownUserRecordNames(of users: Set<UserID>) -> [UserID: String]? {
        guard !users.isEmpty else { return [:] }
        let known = directory.userNames(of: users)
        return known.count == users.count ? known : nil
    }

    /// The users of a container who have these record names. Names that nobody has are left out. Deleted accounts' users are
    /// among them, because records name them.
    package func users(
        named names: Set<String>, in container: ContainerKey
    ) async -> Result<[UserID: String], FailureReason> {
        await users(named: names, in: container, withEnded: true)
    }

    /// The same without users of deleted accounts, whom nobody can invite.
    package func persons(
        named names: Set<String>, in container: ContainerKey
    ) async -> Result<[UserID: String], FailureReason> {
        await users(named: names, in: container, withEnded: false)
    }

    private func users(
        named names: Set<String>, in container: ContainerKey, withEnded isAll: Bool
    ) async -> Result<[UserID: String], FailureReason> {
        // Names that no user can have must not reach the store.
        let possible = names.filter(RecordName.isUser).sorted()
        guard !possible.isEmpty else { return .success([:]) }
        return await retry.run { () async throws(StorageError) in
            .success(
                isAll
                    ? try await storage.users(named: possible, in: container)
                    : try await storage.persons(named: possible, in: container))
        }
    }
}
