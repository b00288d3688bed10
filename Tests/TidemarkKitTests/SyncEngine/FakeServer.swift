// SPDX-License-Identifier: Apache-2.0

import Foundation
import TidemarkFields

@testable import TidemarkKit

/// A server with one private database, as far as a sync engine sees it. For one thread.
final class FakeServer: @unchecked Sendable {
    private struct Entry {
        var number: Int
        var type: String
        /// Nil: deleted.
        var fields: FieldMap?
        var tag: [UInt8] { Array("t\(number)".utf8) }
    }

    private struct Zone {
        let incarnation: Int
        var changeCount = 0
        var entries: [String: Entry] = [:]
    }

    private struct FeedEntry {
        let number: Int
        let zoneID: CKRecordZone.ID
        let deletion: CKDatabase.DatabaseChange.Deletion.Reason?
    }

    private var zones: [CKRecordZone.ID: Zone] = [:]
    private var feed: [FeedEntry] = []
    private var count = 0

    var feedPageSize = 100
    var zonePageSize = 100
    /// Told of each change, with ``origin``: for pushes.
    var onChange: ((CKRecordZone.ID, ObjectIdentifier?) -> Void)?
    /// Whose request is being answered; nil: nobody's.
    var origin: ObjectIdentifier?

    // MARK: Looking

    /// "zone/name" → "tag value", of all living records.
    var contents: [String: String] {
        var contents: [String: String] = [:]
        for (zoneID, zone) in zones {
            for (name, entry) in zone.entries {
                guard let fields = entry.fields else { continue }
                let id = CKRecord.ID(recordName: name, zoneID: zoneID)
                contents["\(zoneID.zoneName)/\(name)"] = record(id, entry, fields)["value"] as? String ?? ""
            }
        }
        return contents
    }

    private func record(_ id: CKRecord.ID, _ entry: Entry, _ fields: FieldMap) -> CKRecord {
        CKRecord(
            recordID: id, recordType: entry.type, fields: fields,
            metadata: ServerMetadata(tag: entry.tag, createdAt: 0, modifiedAt: Int64(entry.number)))
    }

    // MARK: Changing

    @discardableResult
    func save(zone zoneID: CKRecordZone.ID) -> CKRecordZone {
        if zones[zoneID] == nil {
            count += 1
            zones[zoneID] = Zone(incarnation: count)
            note(zoneID)
        }
        return CKRecordZone(zoneID: zoneID, capabilities: [.fetchChanges, .atomic])
    }

    func delete(zone zoneID: CKRecordZone.ID, reason: CKDatabase.DatabaseChange.Deletion.Reason = .deleted) {
        guard zones.removeValue(forKey: zoneID) != nil else { return }
        note(zoneID, deletion: reason)
    }

    /// Saves a record as some other device would.
    func save(_ name: String, in zoneID: CKRecordZone.ID, value: String) {
        let record = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: name, zoneID: zoneID))
        record["value"] = value
        guard let fields = try? record.changes(all: true).fields else { return }
        write(name, type: "Note", fields: fields, in: zoneID)
    }

    func delete(_ name: String, in zoneID: CKRecordZone.ID) {
        guard let entry = zones[zoneID]?.entries[name], entry.fields != nil else { return }
        write(name, type: entry.type, fields: nil, in: zoneID)
    }

    private func write(_ name: String, type: String, fields: FieldMap?, in zoneID: CKRecordZone.ID) {
        count += 1
        zones[zoneID]?.entries[name] = Entry(number: count, type: type, fields: fields)
        zones[zoneID]?.changeCount = count
        note(zoneID)
    }

    private func note(_ zoneID: CKRecordZone.ID, deletion: CKDatabase.DatabaseChange.Deletion.Reason? = nil) {
        count += 1
        feed.removeAll { $0.zoneID == zoneID && ($0.deletion == nil) == (deletion == nil) }
        if deletion != nil { feed.removeAll { $0.zoneID == zoneID } }
        feed.append(FeedEntry(number: count, zoneID: zoneID, deletion: deletion))
        onChange?(zoneID, origin)
    }

    // MARK: Requests

    /// The answer to any request but those about the account.
    func answer(_ request: SyncEngineRequest) -> SyncEngineOutcome {
        switch request {
        case .currentUser: .success(.user(nil))
        case .ensureSubscription(let id): .success(.subscription(id ?? "found"))
        case .zonesWithKeys: .success(.zonesWithKeys([]))
        case .modifyZones(let saving, let deleting, _): .success(.zoneResults(modify(saving, deleting)))
        case .modifyRecords(let batch, _): .success(.recordResults(modify(batch)))
        case .databaseChanges(let token, _, _, _): databaseChanges(since: token).map(SyncEngineAnswer.databasePage)
        case .zoneChanges(let zoneID, let token, _, _):
            zoneChanges(in: zoneID, since: token).map(SyncEngineAnswer.zonePage)
        }
    }

    private func modify(_ saving: [CKRecordZone], _ deleting: [CKRecordZone.ID]) -> SyncEngineZoneResults {
        var results = SyncEngineZoneResults()
        for zone in saving { results.saves[zone.zoneID] = .success(save(zone: zone.zoneID)) }
        for zoneID in deleting {
            delete(zone: zoneID)
            results.deletes[zoneID] = .success(())
        }
        return results
    }

    private func modify(_ batch: CKSyncEngine.RecordZoneChangeBatch) -> SyncEngineRecordResults {
        var results = SyncEngineRecordResults()
        for record in batch.recordsToSave { results.saves[record.recordID] = save(record) }
        for recordID in batch.recordIDsToDelete {
            guard zones[recordID.zoneID] != nil else {
                results.deletes[recordID] = .failure(CKError(.zoneNotFound))
                continue
            }
            delete(recordID.recordName, in: recordID.zoneID)
            results.deletes[recordID] = .success(())
        }
        return results
    }

    /// R-090 … R-096.
    private func save(_ record: CKRecord) -> Result<CKRecord, CKError> {
        let id = record.recordID
        guard let zone = zones[id.zoneID] else { return .failure(CKError(.zoneNotFound)) }
        guard let changes = try? record.changes(all: false) else { return .failure(CKError(.invalidArguments)) }
        let present = zone.entries[id.recordName]
        if let present, let fields = present.fields {
            guard present.tag == changes.tag else {
                let server = self.record(id, present, fields)
                return .failure(CKError(serverRecordChanged: server, client: record))
            }
            write(id.recordName, type: record.recordType, fields: fields.merging(changes.fields), in: id.zoneID)
        } else {
            guard changes.tag.isEmpty else { return .failure(CKError(.unknownItem)) }
            write(id.recordName, type: record.recordType, fields: FieldMap().merging(changes.fields), in: id.zoneID)
        }
        guard let entry = zones[id.zoneID]?.entries[id.recordName], let fields = entry.fields else {
            return .failure(CKError(.internalError))
        }
        return .success(self.record(id, entry, fields))
    }

    private func databaseChanges(since token: CKServerChangeToken?) -> Result<SyncEngineDatabasePage, CKError> {
        let after = token.map(\.number) ?? 0
        let entries = feed.filter { $0.number > after && (token != nil || $0.deletion == nil) }
        let page = entries.prefix(feedPageSize)
        let last = page.count < entries.count ? page.last?.number ?? count : count
        return .success(
            SyncEngineDatabasePage(
                modifications: page.filter { $0.deletion == nil }.map { .init(zoneID: $0.zoneID) },
                deletions: page.compactMap { entry in entry.deletion.map { .init(zoneID: entry.zoneID, reason: $0) } },
                token: .of("d\(last)"), moreComing: page.count < entries.count))
    }

    private func zoneChanges(
        in zoneID: CKRecordZone.ID, since token: CKServerChangeToken?
    ) -> Result<SyncEngineZonePage, CKError> {
        guard let zone = zones[zoneID] else { return .failure(CKError(.zoneNotFound)) }
        let prefix = "z\(zone.incarnation)."
        if let token, !token.text.hasPrefix(prefix) { return .failure(CKError(.changeTokenExpired)) }
        let after = token.map(\.number) ?? 0
        let entries = zone.entries.filter { $1.number > after && (token != nil || $1.fields != nil) }
            .sorted { $0.value.number < $1.value.number }
        let page = entries.prefix(zonePageSize)
        let last = page.count < entries.count ? page.last?.value.number ?? 0 : zone.changeCount
        var result = SyncEngineZonePage(
            modifications: [], deletions: [], token: .of("\(prefix)\(last)"), moreComing: page.count < entries.count)
        for (name, entry) in page {
            let id = CKRecord.ID(recordName: name, zoneID: zoneID)
            if let fields = entry.fields {
                result.modifications.append(.init(record: record(id, entry, fields)))
            } else {
                result.deletions.append(.init(recordID: id, recordType: entry.type))
            }
        }
        return .success(result)
    }
}

extension CKServerChangeToken {
    static func of(_ text: String) -> CKServerChangeToken { CKServerChangeToken(bytes: Array(text.utf8)) }

    var text: String { String(decoding: bytes, as: UTF8.self) }

    /// The digits at the end.
    var number: Int { Int(text.split(whereSeparator: { !$0.isNumber }).last ?? "0") ?? 0 }
}
