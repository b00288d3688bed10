// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkFields
internal import TidemarkService

extension Storage {
    /// Keeps an asset for which there is room, in a private database.
    func keepAsset(_ asset: AssetKey, now: Timestamp) async throws {
        try expect(try await keepAsset(asset, from: nil, now: now) {}, "there is room")
    }
}

extension ZoneKey {
    /// A read of this zone. Names need not be sorted.
    func read(
        records: [String] = [], parents: [String] = [], lives: [DeviceID] = [], assets: [FieldAsset] = [],
        needsZoneKeys: Bool = false, users: [UserID] = []
    ) -> ZoneRead {
        ZoneRead(
            key: self, recordNames: records.sorted(), parentNames: parents.sorted(), lives: lives.sorted(),
            assets: assets, needsZoneKeys: needsZoneKeys,
            users: users.sorted { $0.rawValue < $1.rawValue }, referencesFollowedMax: 100)
    }

    /// A first page, unless a position is given.
    func page(
        after: ZonePageQuery.Position? = nil, recordsMax: Int = 100, bytesMax: Int = 1_000_000,
        device: DeviceID = DeviceID(high: 9, low: 9), tellsEnds: Bool = false
    ) -> ZonePageQuery {
        ZonePageQuery(
            key: self, after: after, recordsMax: recordsMax, bytesMax: bytesMax, device: device, tellsEnds: tellsEnds,
            reader: nil, tombstonesPassedMax: Limits().tombstonesPassedMax)
    }
}

extension ZoneSnapshot {
    /// The changes that write `drafts` as one batch after the zone's last change; nil if the zone does not live. Bytes of
    /// tombstones are counted right if the snapshot has the records that were there before.
    func changes(
        _ drafts: [RecordDraft], memories: [DeviceID: RequestMemory] = [:], assetUses: [AssetUse] = []
    ) -> ZoneChanges? {
        guard let zone else { return nil }
        let end = zone.changeNumber + ChangeNumber(drafts.count)
        let records = drafts.enumerated().map { index, draft in
            draft.record(number: zone.changeNumber + 1 + ChangeNumber(index), batchEnd: end)
        }
        let tombstoneGrowth: Int64 = records.reduce(0) {
            $0 + $1.tombstoneBytes - (self.records[$1.name]?.tombstoneBytes ?? 0)
        }
        return ZoneChanges(
            database: key.database, zone: zone.id, changeNumber: end, records: records, replaced: replaced(by: records),
            tombstoneGrowth: tombstoneGrowth, memories: memories, clientTokensMax: Limits().clientTokensMax,
            assetUses: assetUses)
    }

    /// The living versions that were read of these records.
    func replaced(by records: [RecordState]) -> [RecordState] {
        records.compactMap { self.records[$0.name] }.filter { !$0.isDeleted }
    }
}

extension RecordDraft {
    func record(number: ChangeNumber, batchEnd: ChangeNumber) -> RecordState {
        RecordState(
            name: name, type: "Note", fields: isDeleted ? FieldMap() : fields, changeNumber: number,
            isDeleted: isDeleted, parent: parent, createdAt: Timestamp(milliseconds: 1_600_000_000_001),
            createdBy: UserID(11), createdByDevice: device, modifiedAt: Timestamp(milliseconds: 1_600_000_000_777),
            modifiedBy: UserID(12), batchEnd: batchEnd, cause: cause)
    }

    private var fields: FieldMap {
        (try? FieldMap([Field("text", .string(text)), Field("blob", .bytes([0, 1, 255]))])) ?? FieldMap()
    }
}
