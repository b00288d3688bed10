// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
internal import TidemarkPostgres
package import TidemarkService

extension PostgresStorage {
    package func owners(
        named names: [String], in container: ContainerKey
    ) async throws(StorageError) -> [String: ZoneOwner] {
        let owners = try await read(sql.sharing.ownersNamed((names, container)))
        return Dictionary(owners.map { ($0.recordName, $0) }) { $1 }
    }

    package func owners(of databases: [DatabaseID]) async throws(StorageError) -> [DatabaseID: ZoneOwner] {
        let owners = try await read(sql.sharing.ownersOf(databases))
        return Dictionary(owners.map { ($0.privateDatabase, $0) }) { $1 }
    }

    package func sharings(
        of keys: [ZoneKey], _ sharing: SharingRead
    ) async throws(StorageError) -> [(zone: ZoneState, sharing: ZoneSharing)] {
        let found = try await read(sql.zones.living(keys), and: sharing, of: keys)
        var shares: [ZoneKey: ZoneSharing] = [:]
        for (key, sharing) in zip(keys, found.sharing) { shares[key] = sharing }
        return found.rows.compactMap { zone in
            guard let sharing = shares[zone.key] else { return nil }
            var zone = zone
            zone.isShared = sharing.livingShare(named: Share.zoneWideName) != nil
            return (zone: zone, sharing: sharing)
        }
    }

    package func shareAccess(
        of user: UserID, to key: ZoneKey
    ) async throws(StorageError) -> (zone: ZoneID, sharing: ZoneSharing)? {
        let access = SharingRead.access(of: [user])
        guard let call = access.call(for: [key]) else { return nil }
        let rows = try await read(call)
        var found = SharingRows(isWhole: false)
        for row in rows { found.add(row) }
        noteAccess(access, in: [key], [found.sharing])
        guard let zone = rows.first?.zone, let sharing = found.sharing else { return nil }
        return (zone, sharing)
    }

    package func linkedZones(
        secretHashes: [[UInt8]], for viewer: DatabaseID
    ) async throws(StorageError) -> [[UInt8]: ZoneKey] {
        let linked = try await read(sql.sharing.linkedZones((secretHashes, viewer)))
        return Dictionary(linked.map { ($0.secretHash, $0.zone) }) { $1 }
    }

    package func pointLink(
        secretHash: [UInt8], to key: ZoneKey, root: String?, atMost countMax: Int
    ) async throws(StorageError) -> ZoneID? {
        let call = sql.sharing.pointLink((secretHash, key, root ?? "", countMax))
        guard let row = try await writeRepeatably(call).rows.first else {
            throw StorageError(.rejected, detail: "a row is missing")
        }
        if row.isFull { throw StorageError(.crowded, detail: "links that no share took", retryAfter: .seconds(600)) }
        return row.zone
    }

    package func pointViewer(
        _ viewer: DatabaseID, to key: ZoneKey, atMost countMax: Int
    ) async throws(StorageError) -> PointedViewer {
        guard let user = try await viewers(among: [viewer])[viewer] else {
            throw StorageError(.rejected, detail: "no shared database")
        }
        let database = SharedDatabase(viewer: viewer, user: user)
        // Under the feed's lock: requests at the same moment do not exceed the limit together, and the feed removes no
        // pointer meanwhile, which could end in a deadlock.
        let (_, _, _, pointed) = try await writeRepeatably(
            sql.changes.createFeed(viewer), sql.changes.lockFeed(viewer),
            sql.sharedFeeds.dropPointers((database, countMax)),
            sql.sharedFeeds.pointViewer((database, key, countMax)))
        return pointed.rows.first ?? .zoneMissing
    }

    package func sharedZones(
        of viewer: DatabaseID, for user: UserID, after: ZoneID?, zonesMax: Int
    ) async throws(StorageError) -> [ZoneState] {
        let database = SharedDatabase(viewer: viewer, user: user)
        return try await read(sql.sharedFeeds.page((database, after ?? ZoneID(0), zonesMax)), isLong: true)
    }

    package func sharedMarks(
        of viewers: [DatabaseID: UserID]
    ) async throws(StorageError) -> [DatabaseID: ChangeMark] {
        let databases = viewers.map { SharedDatabase(viewer: $0.key, user: $0.value) }
        let marks = try await read(sql.sharedFeeds.marks(databases), isLong: true)
        return Dictionary(marks.map { ($0.database, $0.mark) }) { $1 }
    }

    package func addresses(of user: UserID) async throws(StorageError) -> Set<String> {
        Set(try await read(sql.addresses.ofUser(user)))
    }

    package func users(
        withAddresses addresses: [String], in container: ContainerKey
    ) async throws(StorageError) -> [String: UserID] {
        let rows = try await read(sql.addresses.users((addresses, container)))
        return Dictionary(rows.map { ($0.address, $0.user) }) { first, _ in first }
    }
}
