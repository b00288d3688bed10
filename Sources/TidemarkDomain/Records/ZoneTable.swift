// SPDX-License-Identifier: Apache-2.0

internal import TidemarkFields

/// The records of one zone as far as a transaction has read them, with what its requests have changed so far.
struct ZoneTable: Sendable {
    let zone: ZoneID
    let store: StoreIncarnation
    /// The newest change number that has been given out.
    private(set) var changeNumber: ChangeNumber
    /// As they were read.
    private let records: [String: RecordState]
    /// What has been written since, by growing change number, and where in it a record's newest version is.
    private var versions: [RecordState] = []
    private var newest: [String: Int] = [:]
    /// Complete for the parents that were asked for, which are the records that a request of the group deletes.
    private var children: [String: Set<String>]
    /// Those of the assets that the group's saves name which have been uploaded.
    let uploadedAssets: Set<FieldAsset>
    /// The ids of the zone's keys, if a save of the group has encrypted values.
    let zoneKeyIDs: Set<[UInt8]>
    /// What changed records named before, if they named any.
    private var assetsBefore: [String: [FieldAsset]] = [:]
    /// Names of changed records that may name assets now, or did before.
    private var changedWithAssets: Set<String> = []
    /// Records that were read without their fields, and how many bytes these are.
    private let unread: [String: Int]
    /// By how many bytes the fields of living records have grown since.
    private(set) var byteGrowth: Int64 = 0
    private(set) var references: ReferenceTable

    /// Nil if the zone does not live.
    init?(_ snapshot: ZoneSnapshot, store: StoreIncarnation) {
        guard let zone = snapshot.zone else { return nil }
        self.zone = zone.id
        self.store = store
        changeNumber = zone.changeNumber
        records = snapshot.records
        children = snapshot.children.mapValues(Set.init)
        references = ReferenceTable(snapshot)
        uploadedAssets = snapshot.assets
        zoneKeyIDs = snapshot.zoneKeyIDs
        unread = snapshot.unread
    }

    /// The record of that name, or its tombstone.
    subscript(name: String) -> RecordState? {
        if !newest.isEmpty, let index = newest[name] { return versions[index] }
        return records[name]
    }

    func living(_ name: String) -> RecordState? {
        guard let record = self[name], !record.isDeleted else { return nil }
        return record
    }

    func tag(of record: RecordState) -> ChangeTag {
        .version(store: store, zone: zone, number: record.changeNumber)
    }

    /// Names of the living records whose parent this is.
    func children(of name: String) -> Set<String> { children[name] ?? [] }

    /// Everything that changed, by growing change number.
    var changedRecords: [RecordState] {
        // NB: usually no record was changed twice, and nothing need be copied.
        if newest.count == versions.count { return versions }
        return versions.indices.compactMap { newest[versions[$0].name] == $0 ? versions[$0] : nil }
    }

    /// What changed in which assets the records name, by the records' names.
    var assetUses: [AssetUse] {
        changedWithAssets.sorted().compactMap { name in
            guard let record = self[name] else { return nil }
            let before = assetsBefore[name] ?? []
            let now = record.fields.assets
            let wasUnread = unread[name] != nil
            guard before != now || wasUnread else { return nil }
            return AssetUse(
                recordName: name, at: record.modifiedAt, added: now.filter { !before.contains($0) },
                removed: before.filter { !now.contains($0) }, removesUnread: wasUnread)
        }
    }

    /// By how many bytes the zone would grow if the record were its newest version, in the place of `old`. A tombstone has
    /// none.
    func growth(by record: RecordState, over old: RecordState?) -> Int64 {
        let unreadCount = !unread.isEmpty && newest[record.name] == nil ? unread[record.name] : nil
        return Int64(record.fields.byteCount) - Int64(unreadCount ?? old?.fields.byteCount ?? 0)
    }

    /// Makes room for so many versions, if they are many.
    mutating func reserve(_ count: Int) {
        guard count > 8 else { return }
        versions.reserveCapacity(versions.count + count)
        newest.reserveCapacity(newest.count + count)
    }

    /// Gives a version the next change number and makes it the current one.
    ///
    /// - Parameters:
    ///   - old: the record of that name until now, or its tombstone.
    ///   - batchEnd: the last number of the batch that it belongs to, within which a page of the feed should not
    ///     end (I-3); nil: it is on its own.
    /// - Returns: the number.
    mutating func write(_ version: RecordState, over old: RecordState?, batchEnd: ChangeNumber?) -> ChangeNumber {
        changeNumber += 1
        version.place(at: changeNumber, batchEnd: batchEnd ?? changeNumber)
        replace(old, with: version)
        return changeNumber
    }

    private mutating func replace(_ old: RecordState?, with record: RecordState) {
        byteGrowth += growth(by: record, over: old)
        let isFirstChange = newest.updateValue(versions.count, forKey: record.name) == nil
        versions.append(record)
        if let parent = old?.parent { children[parent]?.remove(record.name) }
        if let parent = record.parent { children[parent, default: []].insert(record.name) }
        references.replace(old, with: record)
        let before = isFirstChange ? old?.fields.assets ?? [] : []
        if !before.isEmpty { assetsBefore[record.name] = before }
        if !before.isEmpty || record.fields.mayNameOthers || unread[record.name] != nil {
            changedWithAssets.insert(record.name)
        }
    }
}
