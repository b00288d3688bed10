// SPDX-License-Identifier: Apache-2.0

package import TidemarkFields

/// What a transaction must lock and read in one zone before the rules can decide.
package struct ZoneRead: Sendable {
    package let key: ZoneKey
    /// Records named by saves, deletes and as new parents; sorted, each once.
    package let recordNames: [String]
    /// Records whose living children matter: those that are deleted; sorted, each once.
    package let parentNames: [String]
    /// New parents: their own ancestors must be known as well; sorted, each once.
    package let newParentNames: [String]
    /// Records that are saved with deleteSelf references: what they hold matters once something is deleted; sorted.
    package let holderNames: [String]
    /// Records to which deleteSelf references are saved: how many there are already matters; sorted, each once.
    package let referenceTargets: [String]
    /// Lives of devices whose remembered requests matter; sorted, each once.
    package let lives: [DeviceID]
    /// Whether a request was sent before: then what is not remembered must be told from what is forgotten.
    package var hasRepeats = false
    /// Assets that saves name; by hash, each once.
    package let assets: [FieldAsset]
    /// Whether it must be known which keys the zone has: only where saves bring encrypted values.
    package let needsZoneKeys: Bool
    /// The ids of the keys that saves name.
    package var namedZoneKeyIDs: Set<[UInt8]> = []
    /// Users whose own roles matter: those who write in the public database; sorted, each once.
    package let users: [UserID]

    package init(
        key: ZoneKey, recordNames: [String], parentNames: [String], newParentNames: [String] = [],
        holderNames: [String] = [], referenceTargets: [String] = [], lives: [DeviceID],
        assets: [FieldAsset] = [], needsZoneKeys: Bool = false, users: [UserID] = []
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
    }

    /// Whether nothing matters but the zone with its keys, records by name and what is remembered of requests, which come
    /// for the first time: so with most saves.
    package var isPlain: Bool {
        parentNames.isEmpty && newParentNames.isEmpty && referenceTargets.isEmpty && assets.isEmpty && users.isEmpty
            && !hasRepeats
    }

    /// Where cascades may begin: all that refers to these, and all that refers to that, must be known, and the
    /// living children of all of them. Empty unless something is deleted, so that saving costs no question.
    package var cascadeRoots: [String] {
        parentNames.isEmpty ? [] : Set(parentNames + holderNames).sorted()
    }
}

/// What was read, all of it after the zone's row was locked; or what is known of it, which is proven when it is written.
package struct ZoneSnapshot: Sendable {
    package let key: ZoneKey
    /// The living incarnation; nil if there is none.
    package var zone: ZoneState?
    /// How many transactions have written in the zone, be it only a remembered outcome.
    package var writeNumber: Int64 = 0
    /// If there is no living incarnation: why the last one ended (nil: there never was one, or it is forgotten).
    package var lastRemoval: ZoneRemovalReason?
    /// By name, tombstones included; a name that was never used has no entry. Records that are here only because a
    /// cascade reaches them, or as ancestors, come without their fields.
    package var records: [String: RecordState]
    /// Names of those that come without their fields, and how many bytes these are.
    package var unread: [String: Int] = [:]
    /// Names of living records by the parent they name, for all that a cascade may reach.
    package var children: [String: [String]]
    /// Names of living records by the record to which they hold a deleteSelf reference, for all that a cascade may reach
    /// from the ``ZoneRead/cascadeRoots``.
    package var holders: [String: [String]] = [:]
    /// Whether there were more references than may be followed (`Limits.cascadeReferencesMax`).
    package var isCascadeCut = false
    /// How many records hold a deleteSelf reference to each of the ``ZoneRead/referenceTargets``.
    package var referenceCounts: [String: Int] = [:]
    /// The container's own limit for them; nil: `Limits.referencesMax`.
    package var referencesMax: Int?
    /// By life.
    package var memories: [DeviceID: RequestMemory]
    /// The store's memory epoch when ``memories`` was read; 0 where they are known without a read, which serves first
    /// sendings alone.
    package var memoryEpoch: Int64 = 0
    /// Which schema holds for the zone's records; nil where that was not asked for.
    package var schema: SchemaStamp?
    /// Those of the ``ZoneRead/assets`` that have been uploaded to the database.
    package var assets: Set<FieldAsset> = []
    /// The ids of the zone's keys, if ``ZoneRead/needsZoneKeys``.
    package var zoneKeyIDs: Set<[UInt8]> = []
    /// The container's own roles of the ``ZoneRead/users``; who has none is not in it.
    package var roles: [UserID: Set<Role>] = [:]
    /// Of the zone's database; nil: there is no quota.
    package var storageUse: StorageUse?

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

/// What the transaction writes in one zone: final states only, each row once.
package struct ZoneChanges: Sendable {
    package let database: DatabaseID
    package let zone: ZoneID
    /// The zone's newest change number afterwards.
    package let changeNumber: ChangeNumber
    /// Records and tombstones to insert or replace, by growing change number.
    package let records: [RecordState]
    /// By how many bytes the fields of the zone's living records grow.
    package let byteGrowth: Int64
    /// What is kept beside the records to find them (``IndexColumn``), by record name; most have none.
    package var indexColumns: [String: String] = [:]
    /// Rows of request memory to insert or replace, by life.
    package let memories: [DeviceID: RequestMemory]
    /// Which deleteSelf references are held now.
    package let references: ReferenceChanges
    /// The clients' own marks to insert or replace.
    package let clientTokens: [DeviceID: [UInt8]]
    /// What changed in which assets the records name; empty unless assets are involved.
    package let assetUses: [AssetUse]

    package init(
        database: DatabaseID, zone: ZoneID, changeNumber: ChangeNumber, records: [RecordState],
        byteGrowth: Int64 = 0, memories: [DeviceID: RequestMemory], references: ReferenceChanges = ReferenceChanges(),
        clientTokens: [DeviceID: [UInt8]] = [:], assetUses: [AssetUse] = []
    ) {
        self.database = database
        self.zone = zone
        self.changeNumber = changeNumber
        self.records = records
        self.byteGrowth = byteGrowth
        self.memories = memories
        self.references = references
        self.clientTokens = clientTokens
        self.assetUses = assetUses
    }

    /// Whether it is nothing but records and remembered outcomes: so with most saves.
    package var isPlain: Bool { references.isEmpty && clientTokens.isEmpty && assetUses.isEmpty }
}
