// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain

/// A zone's shares with its CKShare record, as one snapshot has them.
struct SharedZoneRead: Sendable {
    let zone: ZoneState
    /// Nil: no share lives.
    let record: RecordState?
    let sharing: ZoneSharing
}

extension CloudService {
    /// The shares of zones of one database, for a caller who may read them: what comes with their CKShare records.
    /// They are read together.
    ///
    /// - Returns: those of zones that live, and to which the caller has access (I-5).
    package func shares(
        of names: Set<String>, in database: DatabaseID, by access: RecordAccess
    ) async -> Result<[ZoneID: ZoneSharing], FailureReason> {
        guard let user = access.user else { return .success([:]) }
        return await retry.run { () async throws(StorageError) in
            let keys = names.sorted().map { ZoneKey(database: database, name: $0) }
            let found = try await storage.sharings(of: keys, .shown(to: user))
            var shares: [ZoneID: ZoneSharing] = [:]
            for (zone, sharing) in found where access.sharing(sharing) != nil { shares[zone.id] = sharing }
            return .success(shares)
        }
    }

    /// Nil if the zone does not live.
    ///
    /// - Parameter user: who asks.
    func sharedZone(
        _ key: ZoneKey, for user: UserID, bytesMax: Int
    ) async throws(StorageError) -> SharedZoneRead? {
        let snapshot = try await storage.records(
            named: [Share.zoneWideName], in: key, bytesMax: bytesMax, sharing: .shown(to: user))
        guard let zone = snapshot.zone, let sharing = snapshot.sharing else { return nil }
        let record = snapshot.records[Share.zoneWideName]
        let isLiving = sharing.livingShare(named: Share.zoneWideName) != nil && record?.isDeleted == false
        return SharedZoneRead(zone: zone, record: isLiving ? record : nil, sharing: sharing)
    }
}
