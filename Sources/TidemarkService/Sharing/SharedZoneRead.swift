// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain

/// A zone's shares with its CKShare record, as one snapshot has them.
package struct SharedZoneRead: Sendable {
    package let zone: ZoneState
    /// Nil: no share lives.
    package let record: RecordState?
    package let sharing: ZoneSharing
}

extension CloudService {
    /// The shares of a zone, for a caller who may read the zone: what comes with its CKShare record.
    ///
    /// - Returns: `zoneNotFound` also without access (I-5).
    package func shares(
        in key: ZoneKey, by access: RecordAccess
    ) async -> Result<SharedZoneRead, FailureReason> {
        await retry.run { () async throws(StorageError) in
            let read = try await sharedZone(key, bytesMax: limits.recordBytesMax)
            guard let read, access.sharing(read.sharing) != nil else { return .failure(.zoneNotFound) }
            return .success(read)
        }
    }

    /// Nil if the zone does not live.
    func sharedZone(_ key: ZoneKey, bytesMax: Int) async throws(StorageError) -> SharedZoneRead? {
        let snapshot = try await storage.records(
            named: [Share.zoneWideName], in: key, bytesMax: bytesMax, sharing: .whole)
        guard let zone = snapshot.zone, let sharing = snapshot.sharing else { return nil }
        let record = snapshot.records[Share.zoneWideName]
        let isLiving = sharing.livingShare(named: Share.zoneWideName) != nil && record?.isDeleted == false
        return SharedZoneRead(zone: zone, record: isLiving ? record : nil, sharing: sharing)
    }
}
