// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
internal import TidemarkFields
internal import TidemarkService

/// A commit, as ``MemoryDatabase/observe(_:)`` reports it.
package enum MemoryCommit: Sendable {
    case zoneCreated(ZoneState)
    /// The zone before its end.
    case zoneEnded(ZoneState)
    case records(ZoneChanges)
}

/// The committed data: PostgreSQL's rows as values. Reading all of it at one moment is a snapshot.
struct MemoryTables {
    struct StoredCredential {
        let id: CredentialID
        let account: AccountID
        var expiresAt: Timestamp?
        var isRevoked = false
    }

    struct UserKey: Hashable {
        let container: ContainerID
        let account: AccountID
    }

    struct User {
        let id: UserID
        let recordName: String
        let database: DatabaseID
        let sharedDatabase: DatabaseID
        var subscriptions: [KeptSubscription] = []
        /// Those that have fired once, in that order, with the time.
        var fired: [(kept: KeptSubscription, at: Timestamp)] = []
    }

    /// A record that names an asset.
    struct AssetUser: Hashable {
        let zone: ZoneID
        let recordName: String
    }

    struct Database {
        /// With ended incarnations, in the order of their ids.
        var zones: [ZoneID] = []
        var memories = MemoryOfRequests()
        var feed = MemoryFeed()
        var clientTokens = MemoryClientTokens()
        var container: ContainerID?
        /// For a shared database: the user who sees it.
        var viewer: UserID?
        /// For a shared database: the zones in its list. They grant nothing.
        var pointers: [ZoneID: ZoneKey] = [:]
    }

    var incarnation = StoreIncarnation(1)
    /// See ``StoreStanding``.
    private(set) var memoryEpoch: Int64 = 1
    private var memoryEpochBegan: Duration?
    var accounts: [String: AccountID] = [:]
    var revokedDevices: Set<AccountDevice> = []
    /// When operators closed which connections, by the scheduler's clock.
    var closings: [(account: AccountID, device: DeviceID?, at: Duration)] = []
    var credentials: [[UInt8]: StoredCredential] = [:]
    var containers: [ContainerKey: ContainerID] = [:]
    /// Those that an operator deletes.
    var closedContainers: [ContainerID: Timestamp] = [:]
    /// For all containers; nil for the server's limit.
    var referencesMax: Int?
    var publicDatabases: [ContainerID: DatabaseID] = [:]
    var users: [UserKey: User] = [:]
    var userKeys: [UserID: UserKey] = [:]
    var databases: [DatabaseID: Database] = [:]
    var zones: [ZoneID: MemoryZone] = [:]
    var schemas: [ContainerID: ContainerSchema] = [:]
    /// Containers that give all zones a feed.
    var feedsEverywhere: Set<ContainerID> = []
    /// The quotas of containers' databases.
    var quotas: [ContainerID: StorageQuota] = [:]
    /// The quotas of accounts over all containers, and the quota of the accounts without their own.
    var accountQuotas: [AccountID: Int64] = [:]
    var accountQuota: Int64?
    /// The bytes that accounts have created in public databases.
    var publicUses: [DatabaseID: [UserID: Int64]] = [:]
    /// Operators' choices for the requests of accounts, and of each account in a container.
    var accountRates: [AccountID: RateChoice] = [:]
    var containerRates: [ContainerID: RateChoice] = [:]
    /// The choice for each account without its own.
    var rateOfEach = RateChoice.standard
    /// Operators' choices for connections; an account without one has no entry.
    var accountConnections: [AccountID: Int32] = [:]
    /// The choice for each account without its own.
    var connectionsOfEach: Int32?
    /// The containers' own roles that users have.
    var roles: [UserID: Set<Role>] = [:]
    /// The knowledge of servers about devices. All devices are listed.
    var deviceProgress: [AccountDevice: NotedProgress] = [:]
    /// When each asset was last touched.
    var assets: [AssetKey: Timestamp] = [:]
    var assetUses: [AssetKey: Set<AssetUser>] = [:]
    /// The senders of each asset of a public database, with times.
    var assetSenders: [AssetKey: [UserID: Timestamp]] = [:]
    /// Those of them that a record of the sender names.
    var namedAssets: [UserID: Set<AssetKey>] = [:]
    /// Those whose keys no server has.
    var endToEndAccounts: Set<AccountID> = []
    /// Here the mode of an account that has a key is stored with its users.
    var accountKeys: [UserID: StoredAccountKey] = [:]
    var zoneKeys: [ZoneID: [WrappedZoneKey]] = [:]
    /// Those of them under which no save may have values.
    var retiredKeyIDs: [ZoneID: Set<[UInt8]>] = [:]
    /// The keys of zones that users were given.
    var keyGrants: [ZoneID: [UserID: KeyGrant]] = [:]
    var masterKeyCheck: [UInt8]?
    /// The shares of living zones that have, or had, some.
    var sharing: [ZoneID: ZoneSharing] = [:]
    /// The records that participants of shared hierarchies see.
    var shareRecords = MemoryShareRecords()
    /// The secrets of the URLs of hierarchies, by the names of their roots.
    var rootSecrets: [ZoneID: [String: [UInt8]]] = [:]
    /// Where links lead, by the SHA-256 of their secrets.
    var links: [[UInt8]: ZoneID] = [:]
    /// The verified addresses of accounts.
    var addresses: [String: AccountID] = [:]
    /// The names of accounts' people.
    var personNames: [AccountID: PersonName] = [:]
    /// Changes that PostgreSQL would have refused, or that break the rules of numbers. They were not written.
    var complaints: [String] = []
    var observe: @Sendable (MemoryCommit) -> Void = { _ in }
    private var lastID: Int64 = 0

    mutating func newID() -> Int64 {
        lastID += 1
        return lastID
    }

    /// Accounts stay with their credentials, addresses, names and modes of encryption, because a test's devices are signed in.
    mutating func restore(_ old: MemoryTables) {
        let current = self
        self = old
        accounts = old.accounts.merging(current.accounts) { old, _ in old }
        (credentials, addresses) = (current.credentials, current.addresses)
        (personNames, endToEndAccounts) = (current.personNames, current.endToEndAccounts)
        (complaints, observe) = (current.complaints, current.observe)
    }

    /// The operator's step after a restore.
    mutating func renewIncarnation(mark: UInt32) {
        incarnation = incarnation.next(mark: mark)
        lastID += ZoneID.gapBetweenLives
        for id in zones.keys where zones[id]?.state.removal == nil { zones[id]?.beginNextLife() }
    }

    // MARK: Zones

    func livingZone(_ key: ZoneKey) -> ZoneID? {
        databases[key.database]?.zones.last { zones[$0]?.state.key == key && zones[$0]?.state.removal == nil }
    }

    func lastRemoval(_ key: ZoneKey) -> ZoneRemovalReason? {
        databases[key.database]?.zones.last { zones[$0]?.state.key == key && zones[$0]?.state.removal != nil }
            .flatMap { zones[$0]?.state.removal }
    }

    func livingZones(in database: DatabaseID) -> [ZoneState] {
        (databases[database]?.zones ?? []).compactMap { zones[$0]?.state }.filter { $0.removal == nil }
    }

    mutating func createZone(_ key: ZoneKey, now: Timestamp, scope: ZoneEncryptionScope = .perRecord) {
        guard livingZone(key) == nil else { return complaints.append("a name has one living incarnation") }
        let id = ZoneID(newID())
        var state = ZoneState(id: id, key: key, createdAt: now)
        state.encryptionScope = scope
        zones[id] = MemoryZone(state: state)
        databases[key.database, default: Database()].zones.append(id)
        observe(.zoneCreated(state))
    }

    // MARK: Reading

    /// The data that is asked for, from the locked zones. A zone that is not locked reads as missing.
    func snapshots(_ reads: [ZoneRead], zones: [ZoneID?]) -> [ZoneSnapshot] {
        var snapshots = zip(reads, zones).map { read, zone in snapshot(read, zone: zone) }
        var bytesThrough = 0
        let bytesMax = reads.map(\.storedBytesMax).max() ?? 0
        // As PostgreSQL does it: the records whose fields are needed come first.
        for isNeeded in [true, false] {
            for (index, read) in reads.enumerated() {
                for name in read.recordNames where read.fieldlessNames.contains(name) != isNeeded {
                    let byteCount = snapshots[index].records[name]?.fields.byteCount ?? 0
                    bytesThrough += byteCount
                    if byteCount == 0 || bytesThrough <= bytesMax || bytesThrough == byteCount { continue }
                    snapshots[index].records[name] = snapshots[index].records[name]?.withoutFields
                    snapshots[index].unread[name] = byteCount
                }
            }
        }
        return snapshots
    }

    private func snapshot(_ read: ZoneRead, zone id: ZoneID?) -> ZoneSnapshot {
        guard let id, let zone = zones[id], zone.state.removal == nil else {
            var missing = ZoneSnapshot(
                key: read.key, lastRemoval: lastRemoval(read.key), schema: schemaStamp(of: read.key.database))
            missing.memoryEpoch = memoryEpoch
            return missing
        }
        var snapshot = zone.snapshot(read)
        snapshot.schema = schemaStamp(of: read.key.database)
        snapshot.memoryEpoch = memoryEpoch
        if read.needsZoneKeys {
            snapshot.zoneKeyIDs = Set((zoneKeys[id] ?? []).map(\.id)).subtracting(retiredKeyIDs[id] ?? [])
        }
        snapshot.assets = Set(
            read.assets.filter { assets[AssetKey(database: read.key.database, content: $0)] != nil })
        for claimant in read.assetClaimants {
            let asset = AssetKey(database: read.key.database, content: claimant.asset)
            let claims = assetClaims(of: asset, by: claimant.user)
            snapshot.assetClaims[claimant.asset, default: claims].senders.formUnion(claims.senders)
        }
        snapshot.sharing = sharing(of: id, read.sharing)
        if read.sharing.countsRows { snapshot.sharingRowCount = sharingRowCount(of: read.key.database) }
        if zone.state.hasHierarchies || read.sharesHierarchy { complete(&snapshot, read, zone) }
        snapshot.referencesMax = referencesMax
        snapshot.roles = roles.filter { read.users.contains($0.key) }
        snapshot.storageUse = storageUse(of: read.key.database)
        snapshot.accountUse = accountUse(of: read.key.database)
        snapshot.publicUse = publicUse(of: read.key.database)
        if snapshot.storageUse != nil || snapshot.accountUse != nil {
            snapshot.tombstoneBytes = (databases[read.key.database]?.zones ?? []).reduce(0) {
                $0 + (zones[$1]?.tombstoneBytes ?? 0)
            }
        }
        return snapshot
    }

    func isStill(at moment: ZoneMoment) -> Bool {
        guard let zone = zones[moment.zone], zone.state.removal == nil else { return false }
        // PostgreSQL's store increments the version of its schemas for a new quota. Here the quota is read.
        return incarnation == moment.store && schemaStamp(of: moment.database) == moment.schema
            && storageUse(of: moment.database) == nil && accountUse(of: moment.database) == nil
            && shareMax(of: moment.database) == nil
            && zone.state.changeNumber == moment.changeNumber
            && zone.writeNumber == moment.writeNumber && !zone.hasAny(of: moment.absentNames)
    }

    /// Nil if the zone does not live.
    func inventory(of key: ZoneKey, _ listing: ZoneListing?) -> ZoneInventory? {
        livingZone(key).flatMap { zones[$0] }?.inventory(listing)
    }

    func zonePage(_ query: ZonePageQuery) -> ZonePageRead {
        let empty = ZonePageRead(zone: nil, lastRemoval: nil, records: [], hasMore: false)
        if let sharing = refusedSharing(of: query.key, query.sharing) {
            var page = empty
            page.sharing = sharing
            return page
        }
        guard let zone = livingZone(query.key).flatMap({ zones[$0] }) else {
            var page = empty
            if query.sharing == .nothing { page.lastRemoval = lastRemoval(query.key) }
            return page
        }
        var page = zone.page(query)
        if let shares = query.hierarchies {
            (page.records, page.hasMore, page.passedTo) = ([], false, nil)
            shareRecords.read(&page, of: zone, seenThrough: shares, query)
        }
        page.sharing = sharing(of: zone.state.id, query.sharing)
        page.clientToken = databases[query.key.database]?.clientTokens.token(of: query.device, in: zone.state.id) ?? []
        return page
    }

    func queryPage(_ page: QueryPageQuery) -> QueryPageRead {
        let living = (databases[page.database]?.zones ?? []).compactMap { zones[$0] }.filter { $0.state.removal == nil }
        let searched = living.filter { zone in page.query.zoneName.map { $0 == zone.state.key.name } ?? true }
        var scan = QueryScan(page)
        for zone in searched {
            let covered = page.hierarchies.map { shareRecords.names(in: zone.state.id, coveredBy: $0) }
            let roots = zone.state.hasHierarchies ? sharing[zone.state.id]?.rootShareNames ?? [:] : [:]
            zone.look(with: &scan, among: covered, naming: roots)
        }
        let isZoneFound = page.query.zoneName == nil || !searched.isEmpty
        let missing = isZoneFound ? nil : page.query.zoneName.map { ZoneKey(database: page.database, name: $0) }
        var read = QueryPageRead(
            isZoneFound: isZoneFound, lastRemoval: missing.flatMap(lastRemoval),
            schema: schemaStamp(of: page.database), matches: scan.matches, hasMore: scan.hasMore)
        if page.query.zoneName != nil, let zone = searched.first {
            read.sharing = sharing(of: zone.state.id, page.sharing)
        }
        return read
    }

    /// The viewer's zones that have a feed entry or need one, by id. These are all but the default zone, unless its
    /// container gives that a feed too. In a shared database: those in its list.
    func feedZones(of viewer: DatabaseID) -> [ZoneState] {
        if let user = databases[viewer]?.viewer { return listedZones(of: viewer, user) }
        let all = (databases[viewer]?.zones ?? []).compactMap { zones[$0]?.state }
        return hasFeedsEverywhere(viewer) ? all : all.filter { $0.key.name != ZoneName.default }
    }

    func hasFeedsEverywhere(_ database: DatabaseID) -> Bool {
        databases[database]?.container.map(feedsEverywhere.contains) ?? false
    }

    func databaseFeed(of viewer: DatabaseID, after: ChangeNumber?, entriesMax: Int) -> StoreRead<DatabaseFeedRead> {
        let feed = databases[viewer]?.feed ?? MemoryFeed()
        var read = feed.read(
            feedZones(of: viewer), begins: accessBegins(of: viewer), after: after, entriesMax: entriesMax)
        read.feedsEverywhere = hasFeedsEverywhere(viewer)
        return StoreRead(read, in: incarnation)
    }

    /// Gives each zone of the viewer that has changed the next number of the feed.
    mutating func advanceFeed(of viewer: DatabaseID) {
        let (zones, begins) = (feedZones(of: viewer), accessBegins(of: viewer))
        databases[viewer, default: Database()].feed.advance(zones, begins: begins)
        dropPointersToEndedZones(of: viewer)
    }

    func changeMark(of database: DatabaseID) -> ChangeMark {
        let states = (databases[database]?.zones ?? []).compactMap { zones[$0]?.state }
        let sum: Int64 = states.reduce(0) { $0 + $1.changeNumber + 1 + ($1.removal == nil ? 0 : 1) }
        return ChangeMark(value: sum, zoneCount: states.count)
    }

    // MARK: Writing

    mutating func write(_ changes: ZoneChanges) {
        if let complaint = zones[changes.zone]?.complaint(about: changes) ?? self.complaint(aboutSharing: changes) {
            complaints.append(complaint)
        } else {
            for change in changes.sharing { write(change, in: changes.zone) }
            let expired = shareRecords.write(changes)
            zones[changes.zone]?.write(changes, memoryEpoch: memoryEpoch)
            zones[changes.zone]?.expireTokens(before: expired)
            databases[changes.database]?.clientTokens.keep(changes)
            for (creator, byteCount) in changes.creatorGrowth {
                publicUses[changes.database, default: [:]][creator, default: 0] += byteCount
            }
            for use in changes.assetUses { write(use, in: changes) }
            markNamedAssets(changes)
            observe(.records(changes))
        }
    }

    mutating func write(_ changes: ZonesChanges, in database: DatabaseID, now: Timestamp) {
        for id in changes.removed { endZone(id, reason: changes.removalReason) }
        for name in changes.created {
            let scope: ZoneEncryptionScope = changes.createdPerZone.contains(name) ? .perZone : .perRecord
            createZone(ZoneKey(database: database, name: name), now: now, scope: scope)
        }
        databases[database, default: Database()].memories.keep([changes.life: changes.memory], epoch: memoryEpoch)
    }

    /// See `Storage.advanceMemoryEpoch(after:keeping:)`.
    mutating func advanceMemoryEpoch(after age: Duration, keeping kept: Int64, now: Duration) -> Bool {
        if let began = memoryEpochBegan, now - began < age { return false }
        memoryEpochBegan = now
        memoryEpoch += 1
        let cleared = memoryEpoch - kept
        for id in databases.keys { databases[id]?.memories.clear(through: cleared) }
        for id in zones.keys { zones[id]?.clearMemories(through: cleared) }
        return true
    }

    /// Forgets every deletion of records and zones.
    mutating func compact() {
        for id in databases.keys.sorted(by: { $0.rawValue < $1.rawValue }) {
            forgetEndedZones(of: id, keeping: 0)
            forgetTombstones(of: id)
        }
    }

    /// See `Storage.forgetTombstones(of:)`.
    mutating func forgetTombstones(of id: DatabaseID) {
        for zone in databases[id]?.zones ?? [] {
            zones[zone]?.compact()
            let living = sharing[zone]?.hierarchies.map(\.number) ?? []
            shareRecords.compact(zone, through: zones[zone]?.state.oldestTokenNumber ?? 0, living: living)
        }
    }

    func endedZoneCount(in database: DatabaseID) -> Int {
        (databases[database]?.zones.count ?? 0) - livingZones(in: database).count
    }

    /// See `Storage.forgetEndedZones(of:keeping:)`.
    mutating func forgetEndedZones(of id: DatabaseID, keeping countMax: Int) {
        // Every end gets its number first, so that older tokens are known to be too old.
        advanceFeed(of: id)
        let forgotten = databases[id]?.feed.compact(keeping: countMax) ?? []
        // A shared database owns no zones. Those that it has forgotten are their owners'.
        guard databases[id]?.viewer == nil else { return }
        databases[id]?.zones.removeAll(where: forgotten.contains)
        for zone in forgotten { self.zones[zone] = nil }
    }

    mutating func endZone(_ id: ZoneID, reason: ZoneRemovalReason) {
        guard let zone = zones[id], zone.state.removal == nil else { return }
        zones[id]?.end(reason)
        databases[zone.state.key.database]?.clientTokens.forget(id)
        (zoneKeys[id], retiredKeyIDs[id], sharing[id]) = (nil, nil, nil)
        (rootSecrets[id], keyGrants[id]) = (nil, nil)
        shareRecords.forget(id)
        observe(.zoneEnded(zone.state))
    }
}
