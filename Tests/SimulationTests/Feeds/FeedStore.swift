// SPDX-License-Identifier: Apache-2.0

import TidemarkDomain
import TidemarkFields
import TidemarkKit
import TidemarkWire

/// Two zones of one private database, and the pages that a server reads of them.
struct FeedStore {
    private struct Zone {
        var state: ZoneState
        /// The newest version of each record, by growing number.
        var records: [RecordState] = []
    }

    static let viewer = DatabaseID(3)
    static let names = ["a", "b"]
    static let zoneIDs = names.map { CKRecordZone.ID(zoneName: $0) }
    private static let life = StoreIncarnation(1)

    private var zones = names.enumerated().map { index, name in
        Zone(
            state: ZoneState(
                id: ZoneID(Int64(index) + 7), key: ZoneKey(database: viewer, name: name),
                createdAt: Timestamp(milliseconds: 0)))
    }

    /// The number of the newest change in each zone.
    var numbers: [ChangeNumber] { zones.map(\.state.changeNumber) }
    /// What a sweep compares.
    var mark: Int64 { numbers.reduce(0, +) }

    /// Whether all newest versions up to a number are among these.
    func isAll(_ versions: [String: ChangeNumber], upTo number: ChangeNumber, in zone: Int) -> Bool {
        zones[zone].records.allSatisfy { $0.changeNumber > number || versions[$0.name] == $0.changeNumber }
    }

    mutating func commit(_ names: [String], in zone: Int, by device: DeviceID) -> ZoneNews {
        let before = zones[zone].state
        let end = before.changeNumber + ChangeNumber(names.count)
        let time = Timestamp(milliseconds: 0)
        let records = names.enumerated().map { index, name in
            RecordState(
                name: name, type: "Note", fields: FieldMap(), changeNumber: before.changeNumber + Int64(index) + 1,
                isDeleted: false, parent: nil, createdAt: time, createdBy: UserID(1), createdByDevice: device,
                modifiedAt: time, modifiedBy: UserID(1), batchEnd: before.changeNumber + Int64(index) + 1)
        }
        zones[zone].records.removeAll { names.contains($0.name) }
        zones[zone].records += records
        zones[zone].state.changeNumber = end
        return ZoneNews(store: Self.life, before: before, changeNumber: end, records: records)
    }

    func databasePage(after token: [UInt8]) throws -> DatabasePage {
        let after = FeedToken.position(token)
        let entries = zones.map(\.state).filter { $0.changeNumber > 0 }.map {
            DatabaseFeedEntry(number: nil, zone: $0.id, key: $0.key, changeNumber: $0.changeNumber, removal: nil)
        }
        let read = DatabaseFeedRead(head: 0, unnumbered: entries, entries: [], hasMore: false)
        return try DatabasePage.make(of: read, viewer: Self.viewer, after: after, entriesMax: 100, store: Self.life)
            .get()
    }

    func zonePage(_ zone: Int, after token: [UInt8], recordsMax: Int, for device: DeviceID) throws -> ZonePage {
        let state = zones[zone].state
        let query = ZonePageQuery(
            key: state.key, after: FeedToken.place(token), recordsMax: recordsMax, bytesMax: .max, device: device,
            reader: nil, tombstonesPassedMax: 0)
        let records = zones[zone].records.filter { $0.changeNumber > query.after?.number ?? 0 }
        let read = ZonePageRead(zone: state, lastRemoval: nil, records: records, hasMore: false)
        return try ZonePage.make(of: read, for: query, store: Self.life).get()
    }
}

/// Tokens of few bytes, so that thousands of histories take seconds: real ones have a checksum. Equal places have equal
/// tokens, as with real ones.
enum FeedToken {
    static func bytes(_ token: ChangeToken) -> [UInt8] {
        switch token {
        case .zone(_, _, _, _, let place): [place.zone.rawValue, place.number, place.begunAt].map { UInt8($0) }
        case .database(_, _, let position):
            position.ahead.flatMap { [UInt8($0.zone.rawValue), UInt8($0.changeNumber)] }
        }
    }

    static func place(_ bytes: [UInt8]) -> ZonePageQuery.Position? {
        guard bytes.count == 3 else { return nil }
        return .init(zone: ZoneID(Int64(bytes[0])), number: Int64(bytes[1]), begunAt: Int64(bytes[2]))
    }

    static func position(_ bytes: [UInt8]) -> FeedPosition? {
        guard !bytes.isEmpty else { return nil }
        return FeedPosition(
            number: 0,
            ahead: stride(from: 0, to: bytes.count, by: 2).map {
                .init(zone: ZoneID(Int64(bytes[$0])), changeNumber: Int64(bytes[$0 + 1]))
            })
    }
}

/// Pages as they come over the wire. The time of a change stands for its number.
extension WireFetchDatabaseChangesAnswer {
    init(_ page: DatabasePage, then zonePage: ZonePage?) {
        self.init()
        changed = page.changed.map { entry in
            var zone = WireZoneID()
            zone.name = entry.key.name
            return zone
        }
        token = FeedToken.bytes(page.token)
        if let zonePage { then = WireFetchZoneChangesAnswer(zonePage) }
    }
}

extension WireFetchZoneChangesAnswer {
    init(_ page: ZonePage) {
        self.init()
        changes = page.entries.map { entry in
            var change = WireZoneChange()
            change.record.name = entry.name
            change.record.modifiedAt = entry.changeNumber
            return change
        }
        token = FeedToken.bytes(page.token)
        moreComing = page.moreComing
    }
}
