// SPDX-License-Identifier: Apache-2.0

package import TidemarkFields

/// The data that a transaction must lock and read in one zone before the rules can decide.
package struct ZoneRead: Sendable {
    package let key: ZoneKey
    /// Records that are saved, deleted or named as new parents; sorted, each once.
    package let recordNames: [String]
    /// Those of them whose fields are not needed, because they are not saved.
    package var fieldlessNames: Set<String> = []
    /// Bytes of fields that may be read (`Limits.storedBytesMax`). Records beyond it come without fields.
    package var storedBytesMax = Int.max
    /// Records whose living children must be read, because they are deleted; sorted, each once.
    package let parentNames: [String]
    /// New parents, whose own ancestors must be read as well; sorted, each once.
    package let newParentNames: [String]
    /// Records that are saved with deleteSelf references; sorted. Their stored references must be read if something is
    /// deleted.
    package let holderNames: [String]
    /// Records to which deleteSelf references are saved; sorted, each once. Their references must be counted.
    package let referenceTargets: [String]
    /// Lives of devices whose remembered requests must be read; sorted, each once.
    package let lives: [DeviceID]
    /// Whether a request is a repeat. Then a forgotten outcome must be told from a request that was never seen.
    package var hasRepeats = false
    /// Assets that saves name; by hash, each once.
    package let assets: [FieldAsset]
    /// The users who want to name some of them, if the database is public; each once.
    package var assetClaimants: [AssetClaimant] = []
    /// Whether the zone's keys must be read. Only saves with encrypted values need them.
    package let needsZoneKeys: Bool
    /// The ids of the keys that saves name.
    package var namedZoneKeyIDs: Set<[UInt8]> = []
    /// Users whose custom roles must be read, because they write in the public database; sorted, each once.
    package let users: [UserID]
    /// The part of the zone's shares that must be read.
    package var sharing = SharingRead.nothing
    /// Saves that may move records, or share them. In a zone with shared hierarchies, everything below these is read, except below
    /// records whose parents stay (``ZoneSnapshot/movedNames(for:)``).
    package var moves: [RecordMove] = []
    /// Whether a hierarchy may be shared that was not.
    package var sharesHierarchy = false
    /// The most records below those of the ``moves``: `Limits.shareSubtreeMax`, but no more relatives than a transaction may read.
    /// The read takes one more, to see whether there are more.
    package var belowMax = 0
    /// A change of shares for which CKShare records must be read.
    package var action: ShareAction?
    /// References that deletions of the request may follow (`Limits.cascadeReferencesMax`). More: the cascade is cut.
    package let referencesFollowedMax: Int
    /// The most relatives that may be read beside the named records: ancestors, references, children, and the
    /// records below those that move. More: they are cut.
    package var relativesMax = Int.max

    package init(
        key: ZoneKey, recordNames: [String], parentNames: [String], newParentNames: [String] = [],
        holderNames: [String] = [], referenceTargets: [String] = [], lives: [DeviceID],
        assets: [FieldAsset] = [], needsZoneKeys: Bool = false, users: [UserID] = [], referencesFollowedMax: Int = 0
    ) {
        self.key = key
        self.recordNames = recordNames
        self.parentNames = parentNames
        self.newParentNames = newParentNames
        self.holderNames = holderNames
        self.referenceTargets = referenceTargets
        self.lives = lives
        self.assets = assets
        self.needsZoneKeys = needsZoneKeys
        self.users = users
        self.referencesFollowedMax = referencesFollowedMax
    }

    /// Whether the read is small: the zone with its keys, records by name, and the memory of requests that are sent for
    /// the first time. That is so for most saves.
    package var isPlain: Bool {
        parentNames.isEmpty && newParentNames.isEmpty && referenceTargets.isEmpty && assets.isEmpty && users.isEmpty
            && !hasRepeats && sharing == .nothing
    }

    /// References that the read follows.
    package var followedMax: Int { min(referencesFollowedMax, relativesMax) }

    /// The records where cascades may begin. All that refers to them, directly or not, must be read, with the
    /// living children of all of those. It is empty unless something is deleted, so that saves need no further read.
    package var cascadeRoots: [String] {
        parentNames.isEmpty ? [] : Set(parentNames + holderNames).sorted()
    }
}

/// The data that was read after the zone's row was locked. It may also be cached knowledge, which the write then
/// proves.
package struct ZoneSnapshot: Sendable {
    package let key: ZoneKey
    /// The living incarnation; nil if there is none.
    package var zone: ZoneState?
    /// How many transactions have written in the zone, even if only a remembered outcome.
    package var writeNumber: Int64 = 0
    /// If no incarnation lives: why the last one ended. Nil if there never was one, or if it is forgotten.
    package var lastRemoval: ZoneRemovalReason?
    /// By name, with tombstones. A name that was never used has no entry. Records that were read only as ancestors, or
    /// because a cascade reaches them, have no fields. Nor do records beyond the bound of the read.
    package var records: [String: RecordState]
    /// How many bytes of fields each record has that was read without them.
    package var unread: [String: Int] = [:]
    /// Living children of each parent, for every record that a cascade may reach. If there are more than the requests
    /// and their cascades may take away, some of them.
    package var children: [String: [String]]
    /// The living holders of deleteSelf references to each record, for everything that a cascade from the
    /// ``ZoneRead/cascadeRoots`` may reach.
    package var holders: [String: [String]] = [:]
    /// Whether there were more references than are followed (``ZoneRead/followedMax``).
    package var isCascadeCut = false
    /// Whether there were more children of all parents together than may be taken away. Then some parents lack theirs.
    package var areChildrenCut = false
    /// Whether there were more ancestors than may be read (``ZoneRead/relativesMax``).
    package var areAncestorsCut = false
    /// How many records hold a deleteSelf reference to each of the ``ZoneRead/referenceTargets``.
    package var referenceCounts: [String: Int] = [:]
    /// The container's own limit of them; nil for `Limits.referencesMax`.
    package var referencesMax: Int?
    /// By life of a device.
    package var memories: [DeviceID: RequestMemory]
    /// The store's memory epoch when ``memories`` was read. 0 if they are known without a read, which is enough for
    /// first sendings only.
    package var memoryEpoch: Int64 = 0
    /// The schema that holds for the zone's records; nil if it was not asked for.
    package var schema: SchemaStamp?
    /// Those of the ``ZoneRead/assets`` that have been uploaded to the database.
    package var assets: Set<FieldAsset> = []
    /// For the assets of the ``ZoneRead/assetClaimants``.
    package var assetClaims: [FieldAsset: AssetClaims] = [:]
    /// The ids of the zone's keys with which values may be saved, if ``ZoneRead/needsZoneKeys``.
    package var zoneKeyIDs: Set<[UInt8]> = []
    /// The container's own roles of the ``ZoneRead/users``. Users without roles are left out.
    package var roles: [UserID: Set<Role>] = [:]
    /// The zone's shares, if they were asked for and the zone lives.
    package var sharing: ZoneSharing?
    /// The data of shared hierarchies, if the zone has any.
    package var hierarchies: ZoneHierarchies?
    /// The rows of the owner's account that count for ``Limits/sharingRowsMax``, if all of the zone's shares were asked
    /// for.
    package var sharingRowCount = 0
    /// The storage use of the zone's database; nil if there is no quota.
    package var storageUse: StorageUse?
    /// The storage use of its owner's account; nil if there is no quota.
    package var accountUse: AccountUse?
    /// The bytes that accounts have created in the zone's database; nil if it is not public.
    package var publicUse: PublicUse?
    /// The bytes of all tombstones in the zone's database; 0 if it has no quota of either kind.
    package var tombstoneBytes: Int64 = 0

    package init(
        key: ZoneKey, zone: ZoneState? = nil, lastRemoval: ZoneRemovalReason? = nil,
        records: [String: RecordState] = [:], children: [String: [String]] = [:],
        memories: [DeviceID: RequestMemory] = [:], schema: SchemaStamp? = nil
    ) {
        self.key = key
        self.zone = zone
        self.lastRemoval = lastRemoval
        self.records = records
        self.children = children
        self.memories = memories
        self.schema = schema
    }
}

extension ZoneSnapshot {
    /// Whether deletions have left more in the database than a quota lets records have.
    package func hasTooManyTombstones(within limits: Limits) -> Bool {
        guard tombstoneBytes > limits.tombstoneBytesMin else { return false }
        let quotas = [storageUse?.bytesMax, accountUse?.use.bytesMax].compactMap(\.self)
        return quotas.min().map { tombstoneBytes > $0 } ?? false
    }

    /// The number of relatives that were read with the named records: ancestors, children, the holders of references,
    /// and the records below those that may move.
    package func relativeCount(of read: ZoneRead) -> Int {
        let belowCount = hierarchies?.below.count ?? 0
        if read.isPlain { return belowCount }
        func count(_ names: [String: [String]]) -> Int { names.values.reduce(0) { $0 + $1.count } }
        return max(0, records.count - read.recordNames.count) + count(children) + count(holders) + belowCount
    }

    /// How many shares and people a request may look at. Only where hierarchies are shared there may be very many.
    package var shareRowCount: Int { hierarchies == nil ? 0 : sharing?.rowCount ?? 0 }

    /// Whether relatives are left out, because all that the requests reach together are too many. Several requests are
    /// then decided one after another. A single one is read again with a place, and refused in part if it still
    /// reaches too many.
    package var areRelativesCut: Bool {
        isCascadeCut || areChildrenCut || areAncestorsCut || hierarchies?.isCut == true
    }

    /// Whether fields are left out that the requests of the read need, because they have too many bytes together.
    package func lacksFields(for read: ZoneRead) -> Bool {
        !unread.isEmpty && read.recordNames.contains { unread[$0] != nil && !read.fieldlessNames.contains($0) }
    }

    /// Bytes of the fields that the requests of the read need, as they are stored; read or not.
    package func storedBytes(for read: ZoneRead) -> Int {
        guard !records.isEmpty || !unread.isEmpty else { return 0 }
        let fieldless = read.fieldlessNames
        return read.recordNames.reduce(0) { count, name in
            !fieldless.isEmpty && fieldless.contains(name) ? count : count + storedBytes(of: name)
        }
    }

    /// Bytes of the fields that one request needs, as they are stored; read or not.
    package func storedBytes(for request: RecordsRequest) -> Int {
        request.saves.reduce(0) { $0 + storedBytes(of: $1.name) }
    }

    private func storedBytes(of name: String) -> Int { unread[name] ?? records[name]?.fields.byteCount ?? 0 }
}

/// The data that the transaction writes in one zone: final states only, each row once.
package struct ZoneChanges: Sendable {
    package let database: DatabaseID
    package let zone: ZoneID
    /// The zone's newest change number afterwards.
    package let changeNumber: ChangeNumber
    /// Records and tombstones to insert or replace, by growing change number.
    package let records: [RecordState]
    /// The living versions, as they were read, in whose place those come.
    package let replaced: [RecordState]
    /// How many bytes the zone's living records grow, as quotas count them.
    package let byteGrowth: Int64
    /// How many bytes the zone's tombstones grow.
    package let tombstoneGrowth: Int64
    /// By how many bytes the records of each creator grow, with their assets, in a public database. For records that were deleted
    /// unread, ``assetUses`` says who gets back the bytes of their assets.
    package var creatorGrowth: [UserID: Int64] = [:]
    /// The index column of each record that has one (``IndexColumn``), by record name. Most have none.
    package var indexColumns: [String: String] = [:]
    /// Rows of request memory to insert or replace, by life of a device.
    package let memories: [DeviceID: RequestMemory]
    /// How the stored deleteSelf references change.
    package let references: ReferenceChanges
    /// The client change tokens to insert or replace, by ``RecordsRequest/memoryDevice``.
    package let clientTokens: [DeviceID: [UInt8]]
    /// The users of those devices that are participants'. All others are devices of the database itself.
    package let tokenUsers: [DeviceID: UserID]
    /// The most tokens that the database keeps for its own user.
    package let clientTokensMax: Int
    /// How many of one participant it keeps.
    package let participantTokensMax: Int
    /// The assets that the records began or ceased to name; empty unless assets are involved.
    package let assetUses: [AssetUse]
    /// How the zone's shares change, in this order.
    package let sharing: [SharingChanges]
    /// Rows of what participants of hierarchies see, to insert or replace.
    package let shareRecords: [ShareRecord]
    /// Whether hierarchies of the zone are shared afterwards, if that differs from the zone's row
    /// (``ZoneState/hasHierarchies``); nil: no change.
    package let hasHierarchies: Bool?
    /// Whether the zone knows so many shares that a record may have more rows of them than are kept
    /// (``ShareRecord/rowsMax``). Usually it does not.
    package var mayExceedRows = false

    package init(
        database: DatabaseID, zone: ZoneID, changeNumber: ChangeNumber, records: [RecordState],
        replaced: [RecordState] = [], byteGrowth: Int64 = 0, tombstoneGrowth: Int64 = 0,
        memories: [DeviceID: RequestMemory],
        references: ReferenceChanges = ReferenceChanges(), clientTokens: [DeviceID: [UInt8]] = [:],
        tokenUsers: [DeviceID: UserID] = [:], clientTokensMax: Int, participantTokensMax: Int = 0,
        assetUses: [AssetUse] = [], sharing: [SharingChanges] = [], shareRecords: [ShareRecord] = [],
        hasHierarchies: Bool? = nil
    ) {
        self.database = database
        self.zone = zone
        self.changeNumber = changeNumber
        self.records = records
        self.replaced = replaced
        self.byteGrowth = byteGrowth
        self.tombstoneGrowth = tombstoneGrowth
        self.memories = memories
        self.references = references
        self.clientTokens = clientTokens
        self.tokenUsers = tokenUsers
        self.clientTokensMax = clientTokensMax
        self.participantTokensMax = participantTokensMax
        self.assetUses = assetUses
        self.sharing = sharing
        self.shareRecords = shareRecords
        self.hasHierarchies = hasHierarchies
    }

    /// Whether there are only records and remembered outcomes. That is so for most saves.
    package var isPlain: Bool {
        references.isEmpty && clientTokens.isEmpty && assetUses.isEmpty && sharing.isEmpty && shareRecords.isEmpty
            && hasHierarchies == nil && creatorGrowth.isEmpty
    }

    /// The records that have one more row than before, if they may have too many now.
    package var recordsWithNewRows: [String] {
        guard mayExceedRows else { return [] }
        return Set(shareRecords.filter { $0.hasLeft || $0.number == $0.enteredNumber }.map(\.name)).sorted()
    }
}
