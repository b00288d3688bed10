// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain

extension CloudService {
    /// The owners with these record names. Names that nobody has are left out. That somebody has a name says nothing
    /// of what they share.
    package func zoneOwners(
        named names: Set<String>, in container: ContainerKey
    ) async -> Result<[ZoneOwner], FailureReason> {
        // Names that no user can have must not reach the store.
        let possible = names.filter(RecordName.isUser)
        let known = directory.owners(named: possible, in: container)
        let unknown = possible.subtracting(known.keys).sorted()
        guard !unknown.isEmpty else { return .success(Array(known.values)) }
        return await retry.run { () async throws(StorageError) in
            let found = try await storage.owners(named: unknown, in: container)
            directory.learn(found, of: container)
            return .success(Array(known.values) + Array(found.values))
        }
    }

    /// The owners of these private databases. A database that is nobody's is left out.
    package func zoneOwners(of databases: Set<DatabaseID>) async -> Result<[ZoneOwner], FailureReason> {
        let known = directory.owners(of: databases)
        let unknown = databases.subtracting(known.keys).sorted()
        guard !unknown.isEmpty else { return .success(Array(known.values)) }
        return await retry.run { () async throws(StorageError) in
            let found = try await storage.owners(of: unknown)
            directory.learn(found)
            return .success(Array(known.values) + Array(found.values))
        }
    }
}
