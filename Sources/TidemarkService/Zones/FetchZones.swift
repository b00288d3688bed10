// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain

extension CloudService {
    /// One page of the living zones of a database by age, with the default zone.
    ///
    /// - Parameter cursor: from the page before; nil for the first page.
    package func zonesPage(
        in database: DatabaseID, after cursor: ZonesCursor?
    ) async -> Result<ZonesPage, FailureReason> {
        await retry.run { () async throws(StorageError) in
            // One more zone than a page has says that another page follows.
            let zones = try await storage.zones(
                in: database, after: cursor?.lastZone, zonesMax: limits.pageZonesMax + 1)
            return .success(ZonesPage(of: zones, in: database, within: limits))
        }
    }

    /// Zones of one or several databases, in that order. For each that does not live, why;
    /// `tooManyItems` over the limit of R-155.
    package func zones(_ keys: [ZoneKey]) async -> Result<[Result<ZoneState, FailureReason>], FailureReason> {
        guard keys.count <= limits.itemsMax else { return .failure(.tooManyItems) }
        return await retry.run { () async throws(StorageError) in
            var found: [ZoneKey: Result<ZoneState, FailureReason>] = [:]
            // Names that no zone can have must not reach the store.
            for (database, names) in keys.filter({ ZoneName.isValid($0.name, limits: limits) }).byDatabase {
                for zone in try await storage.zones(named: names, in: database) { found[zone.key] = .success(zone) }
                let missing = names.map { ZoneKey(database: database, name: $0) }.filter { found[$0] == nil }
                guard !missing.isEmpty else { continue }
                let removals = try await storage.removals(ofZones: missing.map(\.name), in: database)
                for key in missing { found[key] = .failure(.missingZone(removals[key.name])) }
            }
            return .success(keys.map { found[$0] ?? .failure(.missingZone(nil)) })
        }
    }
}
