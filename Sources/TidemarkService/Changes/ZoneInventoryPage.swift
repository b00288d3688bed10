// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain

/// An answer to a device that compares its records of a zone with the stored ones.
package struct ZoneInventoryPage: Sendable {
    package let inventory: ZoneInventory
    /// The place in the zone's feed to which all of this belongs: the token of a fetch that ends there.
    package let token: ChangeToken
}

extension CloudService {
    /// The names and versions of a zone's records, or a digest of them.
    ///
    /// The first of these failures wins: `feedUnavailable` for the default zone, `zoneNameInvalid`, `requestInvalid` for a listing that
    /// begins after no possible name. Then `zoneNotFound` or a similar failure for a zone that is not living. A zone of another user exists
    /// only for those who may read all of it (I-5).
    ///
    /// - Parameter listsAfter: whether names come, and after which name; nil: no names.
    package func inventory(
        of key: ZoneKey, by access: RecordAccess, listsAfter: String?
    ) async -> Result<ZoneInventoryPage, FailureReason> {
        guard key.name != ZoneName.default else { return .failure(.feedUnavailable) }
        guard ZoneName.isValid(key.name, limits: limits) else { return .failure(.zoneNameInvalid) }
        if let listsAfter, !listsAfter.isEmpty, !RecordName.canBeStored(listsAfter, limits: limits) {
            return .failure(.requestInvalid)
        }
        let listing = listsAfter.map { ZoneListing(after: $0, rowsMax: limits.inventoryRowsMax) }
        return await retry.run { () async throws(StorageError) in
            // Access is checked before, so that nobody without access makes the server read names. It is checked again
            // after, for the data that was read.
            guard try await mayRead(all: key, of: nil, by: access) else {
                return .failure(try await refusal(of: key, by: access))
            }
            let read = try await storage.inventory(of: key, listing)
            guard let inventory = read.value else {
                guard access.unlessOwner == nil else { return .failure(.zoneNotFound) }
                let removals = try await storage.removals(ofZones: [key.name], in: key.database)
                return .failure(.missingZone(removals[key.name]))
            }
            let zone = inventory.zone
            guard try await mayRead(all: key, of: zone.id, by: access) else { return .failure(.zoneNotFound) }
            let token = ChangeToken.zone(
                key, viewer: access.viewer, store: read.store,
                position: .init(zone: zone.id, number: zone.changeNumber, begunAt: 0))
            return .success(ZoneInventoryPage(inventory: inventory, token: token))
        }
    }

    /// Why the reader cannot compare the zone: it is not there for them, or they see hierarchies of it, whose records are not
    /// counted apart.
    private func refusal(of key: ZoneKey, by access: RecordAccess) async throws(StorageError) -> FailureReason {
        guard let viewer = access.viewer, let found = try await storage.shareAccess(of: viewer, to: key) else {
            return .zoneNotFound
        }
        return access.sharing(found.sharing) == nil ? .zoneNotFound : .feedUnavailable
    }

    /// - Parameter zone: the incarnation; nil: whichever lives.
    private func mayRead(
        all key: ZoneKey, of zone: ZoneID?, by access: RecordAccess
    ) async throws(StorageError) -> Bool {
        guard let reader = access.unlessOwner else { return true }
        guard let viewer = reader.viewer, let found = try await storage.shareAccess(of: viewer, to: key) else {
            return false
        }
        return (zone ?? found.zone) == found.zone && reader.sharing(found.sharing)?.share?.readsEverything == true
    }
}
