// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain

/// A zone's shares with its CKShare record, as one snapshot has them.
struct SharedZoneRead: Sendable {
    let zone: ZoneState
    /// Nil: no share lives.
    let record: RecordState?
    let sharing: ZoneSharing
    /// Of a hierarchy: its root.
    var root: RecordState?
}

extension CloudService {
    /// The shares of zones of one database, for a caller who may read them: what comes with their CKShare records.
    /// They are read together.
    ///
    /// - Parameter shareNames: of the CKShare records. Of other shares there are no people.
    /// - Returns: those of zones that live, and to which the caller has access (I-5).
    package func shares(
        of names: Set<String>, in database: DatabaseID, named shareNames: Set<String>, by access: RecordAccess
    ) async -> Result<[ZoneID: ZoneSharing], FailureReason> {
        guard let user = access.user else { return .success([:]) }
        return await retry.run { () async throws(StorageError) in
            let keys = names.sorted().map { ZoneKey(database: database, name: $0) }
            let found = try await storage.sharings(of: keys, .linked(to: user, of: ShareChoice(names: shareNames)))
            var shares: [ZoneID: ZoneSharing] = [:]
            for (zone, sharing) in found where access.sharing(sharing) != nil { shares[zone.id] = sharing }
            return .success(shares)
        }
    }

    /// Nil if the zone does not live.
    ///
    /// - Parameters:
    ///   - user: who asks.
    ///   - share: whose CKShare record is read; nil: that of the whole zone.
    ///   - linkHash: of the link with which the user comes. The share that it opens is read, and no other.
    func sharedZone(
        _ key: ZoneKey, of share: Share? = nil, for user: UserID, linkHash: [UInt8], bytesMax: Int
    ) async throws(StorageError) -> SharedZoneRead? {
        let name = share?.recordName ?? Share.zoneWideName
        let names = [name] + [share?.rootName].compactMap(\.self)
        let sharing = SharingRead.linked(to: user, of: ShareChoice(linkHashes: [linkHash]))
        let snapshot = try await storage.records(named: names, in: key, bytesMax: bytesMax, sharing: sharing)
        guard let zone = snapshot.zone, let sharing = snapshot.sharing else { return nil }
        let record = snapshot.records[name]
        let isLiving = sharing.livingShare(named: name) != nil && record?.isDeleted == false
        var read = SharedZoneRead(zone: zone, record: isLiving ? record : nil, sharing: sharing)
        let root = share?.rootName.flatMap { snapshot.unread[$0] == nil ? snapshot.records[$0] : nil }
        // It must say whose root it is: nobody but the owner is told its parent.
        read.root = root.flatMap { sharing.namingRoots([$0]).first }
        return read
    }
}
