// SPDX-License-Identifier: Apache-2.0

package import TidemarkFields

/// What a transaction must lock and read in one zone before the rules can decide.
package struct ZoneRead: Sendable {
    package let key: ZoneKey
    /// Records named by saves, deletes and as new parents; sorted, each once.
    package let recordNames: [String]
    /// Records whose living children matter: those that are deleted; sorted, each once.
    package let parentNames: [String]
    /// Devices whose remembered requests matter; sorted, each once.
    package let devices: [DeviceID]
    /// Assets that saves name; by hash, each once.
    package let assets: [FieldAsset]

    package init(
        key: ZoneKey, recordNames: [String], parentNames: [String], devices: [DeviceID], assets: [FieldAsset] = []
    ) {
        self.key = key
        self.recordNames = recordNames
        self.parentNames = parentNames
        self.devices = devices
        self.assets = assets
    }
}

/// What was read, all of it after the zone's row was locked.
package struct ZoneSnapshot: Sendable {
    package let key: ZoneKey
    /// The living incarnation; nil if there is none.
    package var zone: ZoneState?
    /// If there is no living incarnation: why the last one ended (nil: there never was one, or it is forgotten).
    package var lastRemoval: ZoneRemovalReason?
    /// By name, tombstones included; a name that was never used has no entry.
    package var records: [String: RecordState]
    /// Names of living records by the parent they name, for the ``ZoneRead/parentNames``.
    package var children: [String: [String]]
    package var memories: [DeviceID: RequestMemory]
    /// Which schema holds for the zone's records; nil where that was not asked for.
    package var schema: SchemaStamp?
    /// Those of the ``ZoneRead/assets`` that have been uploaded to the database.
    package var assets: Set<FieldAsset> = []

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
    /// Rows of request memory to insert or replace.
    package let memories: [DeviceID: RequestMemory]
    /// What changed in which assets the records name; empty unless assets are involved.
    package let assetUses: [AssetUse]

    package init(
        database: DatabaseID, zone: ZoneID, changeNumber: ChangeNumber, records: [RecordState],
        memories: [DeviceID: RequestMemory], assetUses: [AssetUse] = []
    ) {
        self.database = database
        self.zone = zone
        self.changeNumber = changeNumber
        self.records = records
        self.memories = memories
        self.assetUses = assetUses
    }
}
