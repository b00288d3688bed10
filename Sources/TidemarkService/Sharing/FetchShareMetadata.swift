// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain

/// Somebody who brings links of shares.
package struct LinkBearer: Sendable {
    package let user: UserID
    /// The user's shared database.
    package let viewer: DatabaseID
    /// The life of the device that asks, as ``RecordsRequest/memoryLife``.
    package let life: DeviceID

    package init(user: UserID, viewer: DatabaseID, life: DeviceID) {
        self.user = user
        self.viewer = viewer
        self.life = life
    }
}

extension CloudService {
    /// The shares to which links lead: one result for each, in order. The links are looked up together.
    ///
    /// `shareUnknown` is one answer for everything that is not for this user. Once the answer is full, the rest is
    /// `tooMuchAtOnce`.
    ///
    /// - Parameters:
    ///   - secrets: of the links. Nil: a text that is not a link.
    ///   - asker: who waits. Nothing more is read when it has left.
    package func shareMetadata(
        ofLinks secrets: [[UInt8]?], for bearer: LinkBearer, askedBy asker: Asker = Asker()
    ) async -> Result<[Result<ShareMetadata, FailureReason>], FailureReason> {
        guard secrets.count <= limits.itemsMax else { return .failure(.tooManyItems) }
        return await visitor(bearer).asyncFlatMap { visitor in
            // A text that is not a link is looked up as well: no zone has the empty secret.
            await shareMetadata(
                ofSecrets: secrets.map { $0 ?? [] }, for: visitor, in: bearer.viewer, askedBy: asker)
        }
    }

    private func shareMetadata(
        ofSecrets secrets: [[UInt8]], for visitor: ShareVisitor, in viewer: DatabaseID, askedBy asker: Asker
    ) async -> Result<[Result<ShareMetadata, FailureReason>], FailureReason> {
        let read = secrets.map { ReadLink($0) }
        let linked = await retry.run { () async throws(StorageError) in
            .success(try await storage.linkedZones(secretHashes: read.map(\.zoneHash), for: viewer))
        }
        return await linked.asyncFlatMap { zones in
            let links = read.map { LinkedSecret(key: $0.key, hash: $0.zoneHash, zone: zones[$0.zoneHash]) }
            return await openable(among: links, for: visitor, askedBy: asker).asyncMap { openable in
                await shareMetadata(of: links, openable, for: visitor, askedBy: asker)
            }
        }
    }

    /// The links to shares that the visitor may open. The data to show is read again.
    ///
    /// The shares are read together, and one that nobody has in the place of each that is not there. So it depends on the
    /// number of links alone how often the store is asked about those that are not for the visitor.
    private func openable(
        among links: [LinkedSecret], for visitor: ShareVisitor, askedBy asker: Asker
    ) async -> Result<OpenableLinks, FailureReason> {
        var openable = OpenableLinks()
        let distinct = links.filter { openable.links.insert($0).inserted }
        // A single share is read with its record at once, wherever the link leads.
        guard distinct.count > 1 else { return .success(openable) }
        openable.links = []
        let countMax = min(limits.sharesTogetherMax, limits.pageSharesMax)
        for start in stride(from: 0, to: distinct.count, by: countMax) where !asker.hasLeft {
            let together = distinct[start...].prefix(countMax)
            let keys = Set(together.enumerated().map { $1.zoneKey(orNamed: "\($0)") }).sorted()
            // One read for all of these links, also into one zone, and of it only the shares that they open.
            let choice = ShareChoice(linkHashes: Set(together.map(\.hash)))
            let read: Result<[ZoneKey: ZoneSharing], FailureReason> = await retry.run {
                () async throws(StorageError) in
                let found = try await storage.sharings(of: keys, .linked(to: visitor.user, of: choice))
                return .success(Dictionary(found.map { ($0.zone.key, $0.sharing) }) { $1 })
            }
            switch read {
            case .failure(let reason): return .failure(reason)
            case .success(let sharings):
                for link in together {
                    guard let entry = sharings[link.zoneKey()]?.entry(of: link.brought(by: visitor)) else { continue }
                    openable.links.insert(link)
                    openable.shares[link] = entry.share
                }
            }
        }
        return .success(openable)
    }

    /// Links into one zone that come one after another are read together, a few at once.
    ///
    /// - Parameter openable: the others open nothing, and are not read again.
    private func shareMetadata(
        of links: [LinkedSecret], _ openable: OpenableLinks, for visitor: ShareVisitor, askedBy asker: Asker
    ) async -> [Result<ShareMetadata, FailureReason>] {
        var results: [Result<ShareMetadata, FailureReason>] = []
        var (room, openable) = (limits.answerBytesMax, openable)
        // The last reads.
        var opened: [LinkedSecret: OpenedLink] = [:]
        for (index, link) in links.enumerated() {
            var result: Result<ShareMetadata, FailureReason> = .failure(.shareUnknown)
            if asker.hasLeft {
                result = .failure(.storeUnavailable)
            } else if room <= 0 {
                result = .failure(.tooMuchAtOnce)
            } else if openable.links.contains(link) {
                if opened[link] == nil {
                    opened = await self.opened(links[index...], openable, for: visitor, bytesMax: room)
                }
                if let opened = opened[link] {
                    result = await shareMetadata(of: opened, for: visitor)
                } else {
                    result = await shareMetadata(of: link, for: visitor)
                }
            }
            switch result {
            case .success(let metadata): room -= metadata.byteCount
            case .failure(let reason): if reason == .shareUnknown { openable.links.remove(link) }
            }
            results.append(result)
        }
        return results
    }

    /// The same for one link.
    private func shareMetadata(
        of link: LinkedSecret, for visitor: ShareVisitor
    ) async -> Result<ShareMetadata, FailureReason> {
        let opened = await retry.run { () async throws(StorageError) in
            .success(try await openedLink(link, for: visitor))
        }
        return await opened.asyncFlatMap { opened in
            guard let opened else { return .failure(.shareUnknown) }
            return await shareMetadata(of: opened, for: visitor)
        }
    }

    private func shareMetadata(
        of opened: OpenedLink, for visitor: ShareVisitor
    ) async -> Result<ShareMetadata, FailureReason> {
        guard let record = opened.read.record,
            let share = opened.read.sharing.shownShare(
                named: opened.share.recordName, to: visitor.user, invitedAs: opened.entry.invitation)
        else { return .failure(.shareUnknown) }
        return await zoneOwners(of: [opened.read.zone.key.database]).flatMap { owners in
            guard let owner = owners.first else { return .failure(.serverFault) }
            let standing = opened.entry.standing(in: opened.share)
            var metadata = ShareMetadata(
                owner: owner, zone: opened.read.zone, record: record, share: share, role: standing.role,
                status: standing.status, permission: standing.permission)
            metadata.root = opened.read.root
            return .success(metadata)
        }
    }

    /// The first of these links, and others into the same zone, read in one snapshot. Only links that open shares come here, so
    /// how often the store is asked tells nobody of others.
    ///
    /// - Returns: those that still open the share that they opened, if its records are within the bytes. The others are read one
    ///   by one.
    private func opened(
        _ links: ArraySlice<LinkedSecret>, _ openable: OpenableLinks, for visitor: ShareVisitor, bytesMax: Int
    ) async -> [LinkedSecret: OpenedLink] {
        guard let key = links.first?.zone else { return [:] }
        var (together, shares): ([LinkedSecret], [Share]) = ([], [])
        for link in links where link.zone == key && !together.contains(link) {
            guard let share = openable.shares[link] else { continue }
            guard together.count < max(1, limits.sharesTogetherMax) else { break }
            together.append(link)
            // Several links may lead to one share.
            if !shares.contains(where: { $0.number == share.number }) { shares.append(share) }
        }
        guard !together.isEmpty else { return [:] }
        let hashes = Set(together.map(\.hash))
        let found = await retry.run { [shares] () async throws(StorageError) in
            .success(
                try await sharedZone(
                    key, of: shares, for: visitor.user, linkHashes: hashes,
                    bytesMax: max(bytesMax, 2 * limits.recordBytesMax)))
        }
        guard case .success(let reads) = found else { return [:] }
        var opened: [LinkedSecret: OpenedLink] = [:]
        for link in together {
            let visitor = link.brought(by: visitor)
            guard let place = shares.firstIndex(where: { $0.number == openable.shares[link]?.number }),
                let read = reads[place], let now = read.sharing.entry(of: visitor),
                now.share.number == shares[place].number
            else { continue }
            opened[link] = OpenedLink(visitor: visitor, read: read, share: now.share, entry: now.entry)
        }
        return opened
    }

    /// The bearer as a visitor, with the verified addresses of the account.
    func visitor(_ bearer: LinkBearer) async -> Result<ShareVisitor, FailureReason> {
        await retry.run { () async throws(StorageError) in
            .success(ShareVisitor(user: bearer.user, addresses: try await storage.addresses(of: bearer.user)))
        }
    }

    /// The share to which a link leads, and how the visitor may enter it. Nil if the visitor may not.
    ///
    /// The store gets the same requests in each case. So the time that they take does not tell why the answer is nil.
    ///
    /// - Parameter viewer: the visitor's shared database. Links of another container or environment lead nowhere.
    func openedLink(
        _ secret: [UInt8]?, for visitor: ShareVisitor, in viewer: DatabaseID
    ) async throws(StorageError) -> OpenedLink? {
        // As in `shareMetadata(ofLinks:for:)`.
        let link = ReadLink(secret ?? [])
        let zone = try await storage.linkedZone(secretHash: link.zoneHash, for: viewer)
        return try await openedLink(LinkedSecret(key: link.key, hash: link.zoneHash, zone: zone), for: visitor)
    }

    /// The visitor with the link, and the shares of the zone to which it leads, whether it opens them or not; nil: no zone.
    ///
    /// As ``openedLink(_:for:in:)``: the store gets the same requests in each case.
    func lookedUp(
        _ secret: [UInt8]?, for visitor: ShareVisitor, in viewer: DatabaseID
    ) async throws(StorageError) -> (ShareVisitor, SharedZoneRead?) {
        let link = ReadLink(secret ?? [])
        let zone = try await storage.linkedZone(secretHash: link.zoneHash, for: viewer)
        let linked = LinkedSecret(key: link.key, hash: link.zoneHash, zone: zone)
        let read = try await sharedZone(
            linked.zoneKey(), for: visitor.user, linkHash: linked.hash, bytesMax: limits.recordBytesMax)
        return (linked.brought(by: visitor), read)
    }

    /// The same for a link that was looked up.
    private func openedLink(
        _ link: LinkedSecret, for visitor: ShareVisitor
    ) async throws(StorageError) -> OpenedLink? {
        let read = try await sharedZone(
            link.zoneKey(), for: visitor.user, linkHash: link.hash, bytesMax: limits.recordBytesMax)
        // A link may lead to a zone that never took over its secret.
        let visitor = link.brought(by: visitor)
        guard var read, var (share, entry) = read.sharing.entry(of: visitor) else { return nil }
        if share.isOfHierarchy {
            // Only a user who may open the share gets this far.
            let bytesMax = 2 * limits.recordBytesMax
            guard
                let again = try await sharedZone(
                    link.zoneKey(), of: share, for: visitor.user, linkHash: link.hash, bytesMax: bytesMax),
                let now = again.sharing.entry(of: visitor), now.share.number == share.number
            else { return nil }
            (read, share, entry) = (again, now.share, now.entry)
        }
        return OpenedLink(visitor: visitor, read: read, share: share, entry: entry)
    }
}

/// The thing that a link opens, once it was looked up.
private struct LinkedSecret: Hashable, Sendable {
    let key: ShareKey
    /// The hash for the look-up.
    let hash: [UInt8]
    /// The zone to which the link leads; nil: there is none.
    let zone: ZoneKey?

    func brought(by visitor: ShareVisitor) -> ShareVisitor { visitor.bringing(key, foundBy: hash) }

    /// The zone that is read. If the link leads nowhere: one in a database that nobody has.
    ///
    /// - Parameter name: of that one. Several links have several.
    func zoneKey(orNamed name: String = ZoneName.default) -> ZoneKey {
        zone ?? ZoneKey(database: DatabaseID(0), name: name)
    }
}

/// Links that led to shares that a visitor may open.
private struct OpenableLinks {
    var links: Set<LinkedSecret> = []
    /// The shares that were read together.
    var shares: [LinkedSecret: Share] = [:]
}

/// A living share, for a user who may open it.
struct OpenedLink: Sendable {
    /// The visitor, with the link's secret.
    let visitor: ShareVisitor
    let read: SharedZoneRead
    let share: Share
    let entry: ShareEntry
}

extension ShareEntry {
    /// The row of an invitation, be it of a user or of an address.
    fileprivate var invitation: ParticipantID? {
        if case .invited(let row) = self { row.id } else { nil }
    }
}

extension Result where Failure == FailureReason {
    /// As `map`, with an async function.
    func asyncMap<Value>(_ transform: (Success) async -> Value) async -> Result<Value, FailureReason> {
        switch self {
        case .success(let value): .success(await transform(value))
        case .failure(let reason): .failure(reason)
        }
    }

    /// As `flatMap`, with an async function.
    func asyncFlatMap<Value>(
        _ transform: (Success) async -> Result<Value, FailureReason>
    ) async -> Result<Value, FailureReason> {
        switch self {
        case .success(let value): await transform(value)
        case .failure(let reason): .failure(reason)
        }
    }
}
