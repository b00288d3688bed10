// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain

extension CloudService {
    /// All living zones of a database by age, with the default zone.
    package func zones(in database: DatabaseID) async -> Result<[ZoneState], FailureReason> {
        await retry.run { () async throws(StorageError) in .success(try await storage.zones(in: database)) }
    }

    /// Zones by name, in that order. For each that does not live, why; `tooManyItems` over the
    /// limit of R-155.
    package func zones(
        named names: [String], in database: DatabaseID
    ) async -> Result<[Result<ZoneState, FailureReason>], FailureReason> {
        guard names.count <= limits.itemsMax else { return .failure(.tooManyItems) }
        return await retry.run { () async throws(StorageError) in
            let zones = try await storage.zones(in: database)
            let byName = Dictionary(zones.map { ($0.key.name, $0) }) { first, _ in first }
            // Names that no zone can have must not reach the store.
            let missing = names.filter { byName[$0] == nil && ZoneName.isValid($0, limits: limits) }
            let removals = missing.isEmpty ? [:] : try await storage.removals(ofZones: missing, in: database)
            return .success(
                names.map { name in byName[name].map { .success($0) } ?? .failure(.missingZone(removals[name])) })
        }
    }
}
