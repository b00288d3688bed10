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

    /// Zones by name, in that order. For each that does not live, why; `tooManyItems` over the
    /// limit of R-155.
    package func zones(
        named names: [String], in database: DatabaseID
    ) async -> Result<[Result<ZoneState, FailureReason>], FailureReason> {
        guard names.count <= limits.itemsMax else { return .failure(.tooManyItems) }
        return await retry.run { () async throws(StorageError) in
            // Names that no zone can have must not reach the store.
            let possible = names.filter { ZoneName.isValid($0, limits: limits) }
            let zones = possible.isEmpty ? [] : try await storage.zones(named: possible, in: database)
            let byName = Dictionary(zones.map { ($0.key.name, $0) }) { first, _ in first }
            let missing = possible.filter { byName[$0] == nil }
            let removals = missing.isEmpty ? [:] : try await storage.removals(ofZones: missing, in: database)
            return .success(
                names.map { name in byName[name].map { .success($0) } ?? .failure(.missingZone(removals[name])) })
        }
    }
}
