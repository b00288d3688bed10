// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
internal import TidemarkFairness

/// How a request that has no turn yet looks up the owners whom it names.
package struct OwnersLook: Sendable {
    let turn: WorkTurn
    let asker: Asker
    let order: OwnersOrder?

    /// - Parameters:
    ///   - turn: in which all names of the request are looked up together.
    ///   - asker: who waits. If they have left, nothing is looked up.
    ///   - order: of the connection's requests. Nil: the request has its place there already.
    package init(in turn: WorkTurn, askedBy asker: Asker, after order: OwnersOrder?) {
        self.turn = turn
        self.asker = asker
        self.order = order
    }
}

extension CloudService {
    /// The owners with these record names, whether they share anything or not. Names that nobody has are left out.
    ///
    /// - Parameter look: nil if the request has its turn already.
    package func zoneOwners(
        named names: Set<String>, in container: ContainerKey, at look: OwnersLook? = nil
    ) async -> Result<[ZoneOwner], FailureReason> {
        // Names that no user can have must not reach the store.
        let possible = names.filter(RecordName.isUser)
        guard let look else { return await zoneOwners(named: possible, in: container, in: WorkTurn(of: .nobody)) }
        guard let order = look.order else {
            return await zoneOwners(named: possible, in: container, in: look.turn, askedBy: look.asker)
        }
        return await order.run(mayPass: knowsOwners(named: possible, in: container)) {
            await zoneOwners(named: possible, in: container, in: look.turn, askedBy: look.asker)
        }
    }

    /// Whether none of these names would have to be looked up.
    package func knowsOwners(named names: Set<String>, in container: ContainerKey) -> Bool {
        let possible = names.filter(RecordName.isUser)
        return directory.owners(named: possible, in: container).count == possible.count
    }

    private func zoneOwners(
        named names: Set<String>, in container: ContainerKey, in turn: WorkTurn, askedBy asker: Asker = Asker()
    ) async -> Result<[ZoneOwner], FailureReason> {
        let known = directory.owners(named: names, in: container)
        let unknown = names.subtracting(known.keys).sorted()
        guard !unknown.isEmpty else { return .success(Array(known.values)) }
        return await inTurn(turn, askedBy: asker) {
            await retry.run(askedBy: asker) {
                () async throws(StorageError) -> Result<[ZoneOwner], FailureReason> in
                let found = try await storage.owners(named: unknown, in: container)
                directory.learn(found, of: container)
                return .success(Array(known.values) + Array(found.values))
            }
        }
    }

    /// The owners of these private databases. A database without an owner is left out.
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
