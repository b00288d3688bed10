// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain

extension CloudService {
    /// All living zones of a database by age, the default zone among them.
    package func zones(in database: DatabaseID) async -> Result<[ZoneState], FailureReason> {
        await retry.run { () async throws(StorageError) in .success(try await storage.zones(in: database)) }
    }

    /// Zones by name, in that order: `zoneNotFound` for each that does not exist, `tooManyItems` over the limit of
    ///
    package func zones(
        named names: [String], in database: DatabaseID
    ) async -> Result<[Result<ZoneState, FailureReason>], FailureReason> {
        guard names.count <= limits.itemsMax else { return .failure(.tooManyItems) }
        return await zones(in: database).map { zones in
            let byName = Dictionary(zones.map { ($0.key.name, $0) }) { first, _ in first }
            return names.map { name in byName[name].map { .success($0) } ?? .failure(.zoneNotFound) }
        }
    }
}
