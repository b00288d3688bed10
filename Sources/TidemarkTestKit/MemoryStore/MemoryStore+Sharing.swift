// SPDX-License-Identifier: Apache-2.0

internal import TidemarkCrypto
package import TidemarkDomain
package import TidemarkService

extension MemoryStore {
    package func owners(
        named names: [String], in container: ContainerKey
    ) async throws(StorageError) -> [String: ZoneOwner] {
        try await call { tables in
            let id = tables.containers[container]
            let found = tables.users.filter { $0.key.container == id && names.contains($0.value.recordName) }
            return Dictionary(found.values.map { ($0.recordName, $0.asOwner) }) { first, _ in first }
        }
    }

    package func owners(of databases: [DatabaseID]) async throws(StorageError) -> [DatabaseID: ZoneOwner] {
        try await call { tables in
            let found = tables.users.values.filter { databases.contains($0.database) }
            return Dictionary(found.map { ($0.database, $0.asOwner) }) { first, _ in first }
        }
    }

    package func sharings(
        of keys: [ZoneKey], _ read: SharingRead
    ) async throws(StorageError) -> [(zone: ZoneState, sharing: ZoneSharing)] {
        try await call { tables in
            keys.compactMap { key in
                guard let id = tables.livingZone(key), let zone = tables.zones[id]?.state else { return nil }
                return tables.sharing(of: id, read).map { (zone: tables.listed(zone), sharing: $0) }
            }
        }
    }

    package func shareAccess(
        of user: UserID, to key: ZoneKey
    ) async throws(StorageError) -> (zone: ZoneID, sharing: ZoneSharing)? {
        try await sharing(of: key, .access(of: [user])).map { (zone: $0.zone.id, sharing: $0.sharing) }
    }

    package func linkedZones(
        secretHashes: [[UInt8]], for viewer: DatabaseID
    ) async throws(StorageError) -> [[UInt8]: ZoneKey] {
        try await call { tables -> [[UInt8]: ZoneKey] in
            var linked: [[UInt8]: ZoneKey] = [:]
            for hash in secretHashes {
                guard let zone = tables.links[hash].flatMap({ tables.zones[$0]?.state }), zone.removal == nil,
                    let container = tables.databases[viewer]?.container,
                    tables.databases[zone.key.database]?.container == container
                else { continue }
                linked[hash] = zone.key
            }
            return linked
        }
    }

    package func pointLink(
        secretHash: [UInt8], to key: ZoneKey, root: String?, atMost countMax: Int
    ) async throws(StorageError) -> ZoneID? {
        try await call { tables -> Result<ZoneID?, StorageError> in
            guard let zone = tables.livingZone(key) else { return .success(nil) }
            guard tables.pointLink(secretHash, to: zone, root, atMost: countMax) else {
                return .failure(StorageError(.crowded, detail: "links that no share took"))
            }
            return .success(zone)
        }.get()
    }

    package func pointViewer(
        _ viewer: DatabaseID, to key: ZoneKey, atMost countMax: Int
    ) async throws(StorageError) -> PointedViewer {
        try await call { $0.pointViewer(viewer, to: key, atMost: countMax) }
    }

    package func sharedZones(
        of viewer: DatabaseID, for user: UserID, after: ZoneID?, zonesMax: Int
    ) async throws(StorageError) -> [ZoneState] {
        try await call { tables in
            let pointers = tables.databases[viewer]?.pointers ?? [:]
            let listed = pointers.keys.sorted().filter { id in after.map { $0 < id } ?? true }
            let zones = listed.filter { tables.sharing(of: $0, .access(of: [user]))?.admits(user) ?? false }
            return zones.prefix(zonesMax).compactMap { tables.zones[$0]?.state }
        }
    }

    package func sharedMarks(
        of viewers: [DatabaseID: UserID]
    ) async throws(StorageError) -> [DatabaseID: ChangeMark] {
        try await call { tables in
            var marks: [DatabaseID: ChangeMark] = [:]
            for (viewer, user) in viewers { marks[viewer] = tables.mark(of: viewer, user) }
            return marks
        }
    }

    package func addresses(of user: UserID) async throws(StorageError) -> Set<String> {
        try await call { tables in
            let account = tables.userKeys[user]?.account
            return Set(tables.addresses.filter { $0.value == account }.keys)
        }
    }

    package func users(
        withAddresses addresses: [String], in container: ContainerKey
    ) async throws(StorageError) -> [String: UserID] {
        try await call { tables in
            guard let id = tables.containers[container] else { return [:] }
            let found = addresses.compactMap { address -> (String, UserID)? in
                guard let account = tables.addresses[address],
                    let user = tables.users[MemoryTables.UserKey(container: id, account: account)]
                else { return nil }
                return (address, user.id)
            }
            return Dictionary(found) { first, _ in first }
        }
    }
}

extension MemoryTables.User {
    fileprivate var asOwner: ZoneOwner { ZoneOwner(user: id, recordName: recordName, privateDatabase: database) }
}

extension ZoneSharing {
    fileprivate func admits(_ user: UserID) -> Bool { ShareAccess(of: user, in: self).isParticipant }
}

extension MemoryTables {
    fileprivate func isLiving(_ zone: ZoneID) -> Bool { zones[zone].map { $0.state.removal == nil } ?? false }

    /// The zone, with whether it is shared.
    func listed(_ zone: ZoneState) -> ZoneState {
        var listed = zone
        listed.isShared = sharing[zone.id]?.livingShare(named: Share.zoneWideName) != nil
        return listed
    }

    /// The requested part of the shares of a living zone; nil if nothing is requested, or if the zone belongs to no
    /// user. The participants of shares that have ended are left out.
    func sharing(of zone: ZoneID, _ read: SharingRead) -> ZoneSharing? {
        // Most reads ask for nothing, and nothing is looked for.
        guard read != .nothing, let stored = storedSharing(of: zone) else { return nil }
        let choice = read.choice
        func link(of share: Share) -> [UInt8]? {
            share.rootName.map { rootSecrets[zone]?[$0] } ?? stored.secret
        }
        let chosen = stored.shares.values.filter { share in
            share.isLiving && choice.has(share, linkHash: link(of: share).map { SHA256.hash($0) })
        }
        let chosenNumbers = Set(chosen.map(\.number))
        let shares = (read.leavesOutOthers ? chosen : Array(stored.shares.values)).map { share in
            var share = share
            share.rootSecret = share.isOfHierarchy && chosenNumbers.contains(share.number) ? link(of: share) : nil
            return share
        }
        let users = read.partUsers
        var people: [ShareNumber: [Participant]] = [:]
        for (number, rows) in stored.participants where stored.shares[number]?.isLiving ?? false {
            let isChosen = chosenNumbers.contains(number)
            let found = rows.values.filter { row in
                (isChosen || row.user.map(users.contains) ?? false) && (row.isLiving || read.viewer == nil)
            }
            if isChosen || !found.isEmpty { people[number] = found }
        }
        let requests = stored.requests.filter { chosenNumbers.contains($0.key) }
        let isAccess = if case .access = read { true } else { false }
        return ZoneSharing(
            owner: stored.owner, shares: shares, participants: people,
            requests: requests.mapValues { Array($0.values) }, secret: isAccess ? nil : stored.secret,
            isWhole: read.isWhole, wholeShares: read.isWhole ? [] : chosenNumbers,
            personNames: read.viewer == nil ? [:] : shownNames(of: stored.owner, people, requests))
    }

    /// the names of the owner, of those who have accepted and of those who have asked, as far as they were read.
    private func shownNames(
        of owner: UserID, _ people: [ShareNumber: [Participant]],
        _ requests: [ShareNumber: [UserID: AccessRequest]]
    ) -> [UserID: PersonName] {
        let accepted = people.values.flatMap { $0.filter(\.hasAccepted).compactMap(\.user) }
        // A user who was blocked without having asked has shown nobody who they are.
        let asking = requests.values.flatMap { rows in rows.values.filter { $0.requestedAt != nil }.map(\.user) }
        let named = Set([owner] + accepted + asking).compactMap { user -> (UserID, PersonName)? in
            userKeys[user].flatMap { personNames[$0.account] }.map { (user, $0) }
        }
        return Dictionary(named) { first, _ in first }
    }

    /// The shares of a living zone to which the given user has no access: nothing else of the zone is read.
    func refusedSharing(of key: ZoneKey, _ read: SharingRead) -> ZoneSharing? {
        guard case .access(let users) = read, users.count == 1, let zone = livingZone(key),
            let sharing = sharing(of: zone, read), !sharing.admits(users[0])
        else { return nil }
        return sharing
    }

    private func storedSharing(of zone: ZoneID) -> ZoneSharing? {
        guard let state = zones[zone]?.state, state.removal == nil,
            let owner = users.values.first(where: { $0.database == state.key.database })?.id
        else { return nil }
        return sharing[zone] ?? ZoneSharing(owner: owner)
    }

    mutating func write(_ changes: SharingChanges, in zone: ZoneID) {
        if let secret = changes.insertedSecret, let root = changes.insertedShare?.rootName {
            // a root keeps its secret.
            rootSecrets[zone, default: [:]][root] = rootSecrets[zone]?[root] ?? secret
        }
        shareRecords.forget(changes.endedHierarchies, of: zone)
        sharing[zone] = storedSharing(of: zone)?.applying(changes)
    }

    /// The mistake in the changes of shares that PostgreSQL would refuse, or that breaks the rules of numbers; nil if
    /// there is none.
    func complaint(aboutSharing changes: ZoneChanges) -> String? {
        guard !changes.sharing.isEmpty else { return nil }
        guard var sharing = storedSharing(of: changes.zone), let zone = zones[changes.zone]?.state else {
            return "a zone that is no user's is shared"
        }
        for change in changes.sharing {
            guard zone.changeNumber < change.number, change.number <= changes.changeNumber else {
                return "shares change without a change of the zone"
            }
            sharing = sharing.applying(change)
            guard sharing.shares[change.share] != nil else { return "a share that is not there changes" }
            let names = sharing.shares.values.filter(\.isLiving).map(\.recordName)
            if Set(names).count < names.count { return "a CKShare record is of one living share" }
            let users = (sharing.participants[change.share] ?? [:]).values.compactMap(\.user)
            if Set(users).count < users.count { return "a user has one row in a share" }
        }
        return nil
    }

    // MARK: The feed of a shared database

    /// The zones that a viewer sees, by id. To the viewer a zone ends with their access. The end is told if the feed has the zone, and
    /// nothing newer than that.
    func listedZones(of viewer: DatabaseID, _ user: UserID) -> [ZoneState] {
        guard let database = databases[viewer] else { return [] }
        return database.pointers.sorted { $0.key < $1.key }.compactMap { id, key in
            if sharing(of: id, .access(of: [user]))?.admits(user) ?? false { return zones[id]?.state }
            guard let number = database.feed.livingNumber(of: id) else { return nil }
            return ZoneState(
                id: id, key: key, createdAt: Timestamp(milliseconds: 0), changeNumber: number, removal: .deleted)
        }
    }

    /// The changes that gave a viewer access to zones of the list; nil for a database that is not a list.
    func accessBegins(of viewer: DatabaseID) -> [ZoneID: ChangeNumber]? {
        guard let database = databases[viewer], let user = database.viewer else { return nil }
        var begins: [ZoneID: ChangeNumber] = [:]
        for zone in database.pointers.keys {
            guard let sharing = sharing(of: zone, .access(of: [user])), sharing.admits(user),
                !sharing.livingShares.isEmpty
            else { continue }
            begins[zone] = ShareAccess(of: user, in: sharing).begunNumber
        }
        return begins
    }

    fileprivate func mark(of viewer: DatabaseID, _ user: UserID) -> ChangeMark {
        let ids = (databases[viewer]?.pointers ?? [:]).keys
        let shown = ids.filter { sharing(of: $0, .access(of: [user]))?.admits(user) ?? false }
        let hashes = shown.compactMap { zones[$0]?.state }.map(Self.hash)
        return ChangeMark(value: hashes.reduce(0, ^), zoneCount: ids.count)
    }

    /// The hash of a zone and its change number, as random as PostgreSQL's.
    private static func hash(_ zone: ZoneState) -> Int64 {
        var bits = UInt64(bitPattern: zone.id.rawValue) &* 0x9E37_79B9_7F4A_7C15
        bits ^= UInt64(bitPattern: zone.changeNumber)
        bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
        bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
        return Int64(bitPattern: bits ^ (bits >> 31))
    }

    /// Pointers to zones that have ended have no meaning, except those whose ends the feed has not told.
    ///
    /// NB: a pointer to a living zone stays, even if the feed has told that the user's access ended. An acceptance that
    /// is under way may have written it again. In PostgreSQL it stays for an hour, and here for ever.
    mutating func dropPointersToEndedZones(of viewer: DatabaseID) {
        guard let database = databases[viewer], !database.pointers.isEmpty else { return }
        let kept = database.pointers.filter { isLiving($0.key) || database.feed.livingNumber(of: $0.key) != nil }
        databases[viewer]?.pointers = kept
    }

    /// False if too many links lead to the zone. Here those that no share took are kept for ever.
    fileprivate mutating func pointLink(
        _ secretHash: [UInt8], to zone: ZoneID, _ root: String?, atMost countMax: Int
    ) -> Bool {
        if let secret = root.map({ rootSecrets[zone]?[$0] }) ?? sharing[zone]?.secret {
            links[SHA256.hash(secret)] = zone
            return true
        }
        let taken = Set((rootSecrets[zone] ?? [:]).values.map { SHA256.hash($0) })
        guard links.count(where: { $0.value == zone && $0.key != secretHash && !taken.contains($0.key) }) < countMax
        else { return false }
        links[secretHash] = zone
        return true
    }

    fileprivate mutating func pointViewer(
        _ viewer: DatabaseID, to key: ZoneKey, atMost countMax: Int
    ) -> PointedViewer {
        guard let zone = livingZone(key) else { return .zoneMissing }
        if let pointers = databases[viewer]?.pointers, pointers[zone] == nil, pointers.count >= countMax {
            dropPointersToEndedZones(of: viewer)
            guard pointers.keys.count(where: { isLiving($0) }) < countMax else { return .full }
        }
        databases[viewer]?.pointers[zone] = key
        return .done
    }
}
