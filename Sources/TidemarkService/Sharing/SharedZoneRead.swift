// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain

/// A zone's shares with its CKShare record, as one snapshot has them.
struct SharedZoneRead: Sendable {
    let zone: ZoneState
    /// Nil: no share lives.
    let record: RecordState?
    let sharing: ZoneSharing
    /// For a hierarchy: its root.
    var root: RecordState?
}

extension CloudService {
    /// The shares of zones of one database, for a caller who may read them: the data that comes with their CKShare records. They
    /// are read together.
    ///
    /// - Parameter shareNames: the names of the CKShare records. Other shares come without people.
    /// - Returns: the shares of zones that are living, and to which the caller has access (I-5).
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
    ///   - linkHash: the hash of the link with which the user opens it. Only the share that it opens is read.
    func sharedZone(
        _ key: ZoneKey, of share: Share? = nil, for user: UserID, linkHash: [UInt8], bytesMax: Int
    ) async throws(StorageError) -> SharedZoneRead? {
        let names = SharedZoneRead.names(of: share)
        let sharing = SharingRead.linked(to: user, of: ShareChoice(linkHashes: [linkHash]))
        let snapshot = try await storage.records(named: names, in: key, bytesMax: bytesMax, sharing: sharing)
        return SharedZoneRead(snapshot, of: share)
    }

    /// The same of some shares, in one snapshot.
    ///
    /// - Parameters:
    ///   - shares: each once.
    ///   - linkHashes: the hashes of the links with which the user opens them.
    /// - Returns: of each share. Nil: it did not fit into the bytes, or the zone does not live.
    func sharedZone(
        _ key: ZoneKey, of shares: [Share], for user: UserID, linkHashes: Set<[UInt8]>, bytesMax: Int
    ) async throws(StorageError) -> [SharedZoneRead?] {
        let names = shares.flatMap { SharedZoneRead.names(of: $0) }
        let sharing = SharingRead.linked(to: user, of: ShareChoice(linkHashes: linkHashes))
        let snapshot = try await storage.records(named: names, in: key, bytesMax: bytesMax, sharing: sharing)
        return shares.map { share in
            let isRead = SharedZoneRead.names(of: share).allSatisfy { snapshot.unread[$0] == nil }
            return isRead ? SharedZoneRead(snapshot, of: share) : nil
        }
    }
}

extension SharedZoneRead {
    /// The records that are read: the CKShare record of the share, or of the whole zone, and its root.
    fileprivate static func names(of share: Share?) -> [String] {
        [share?.recordName ?? Share.zoneWideName] + [share?.rootName].compactMap(\.self)
    }

    /// Nil if the zone does not live.
    fileprivate init?(_ snapshot: ZoneSnapshot, of share: Share?) {
        guard let zone = snapshot.zone, let sharing = snapshot.sharing else { return nil }
        let name = share?.recordName ?? Share.zoneWideName
        let record = snapshot.records[name]
        let isLiving = sharing.livingShare(named: name) != nil && record?.isDeleted == false
        self.init(zone: zone, record: isLiving ? record : nil, sharing: sharing)
        let root = share?.rootName.flatMap { snapshot.unread[$0] == nil ? snapshot.records[$0] : nil }
        // It must know its share: only the owner sees the root's parent.
        self.root = root.flatMap { sharing.namingRoots([$0]).first }
    }
}
