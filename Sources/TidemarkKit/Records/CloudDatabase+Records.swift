// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TidemarkFields
internal import TidemarkTelemetry
internal import TidemarkWire

extension CloudDatabase {
    /// The result for each item.
    struct RecordResults {
        var saves: [CKRecord.ID: Result<CKRecord, CKError>] = [:]
        var deletes: [CKRecord.ID: Result<Void, CKError>] = [:]
        /// Saves whose copies may lack what the server has.
        fileprivate var behind: [Behind] = []
    }

    /// A save whose copy may lack what the server has.
    fileprivate struct Behind {
        let save: Save
        /// As it came with the answer; nil if it must be fetched.
        let record: CKRecord?
        /// The copy's metadata if the record cannot be fetched; nil if the metadata lacks fields.
        var metadata: ServerMetadata?
    }

    /// One record on its way: as it was when it was handed over, so that changing it afterwards has no effect.
    struct Save: Sendable {
        let original: CKRecord
        let copy: CKRecord
        let changes: RecordChanges
        /// The fields to send: the changed ones, once the encrypted ones among them are encrypted.
        var fields: FieldMap
    }

    /// The way in which a request with changes is carried out.
    struct Manner: Sendable {
        let policy: CKModifyRecordsOperation.RecordSavePolicy
        let isAtomic: Bool
        var clientToken = Data()

        /// Whether all keys are sent.
        var sendsAll: Bool { policy == .allKeys }

        /// Whether items of the zone succeed or fail together.
        func isAtomic(in zoneID: CKRecordZone.ID) -> Bool {
            isAtomic && zoneID.zoneName != CKRecordZone.ID.defaultZoneName
        }
    }

    /// Saves and deletes; records that are saved get their new tags.
    ///
    /// - Throws: an error that makes the whole request fail; items have their own errors.
    func modifyRecords(
        saving records: [CKRecord], deleting recordIDs: [CKRecord.ID],
        policy: CKModifyRecordsOperation.RecordSavePolicy, atomically: Bool, clientToken: Data = Data(),
        progress: Progress? = nil
    ) async throws(CKError) -> RecordResults {
        try await modifyRecords(
            handedOver: records.map(\.handedOver), deleting: recordIDs, policy: policy, atomically: atomically,
            clientToken: clientToken, progress: progress)
    }

    /// A record of the app, and a copy of it as it was when the app handed it over.
    typealias HandedOver = (original: CKRecord, copy: CKRecord)

    /// The same for records that were handed over before.
    func modifyRecords(
        handedOver pairs: [HandedOver], deleting recordIDs: [CKRecord.ID],
        policy: CKModifyRecordsOperation.RecordSavePolicy, atomically: Bool, clientToken: Data = Data(),
        progress: Progress? = nil
    ) async throws(CKError) -> RecordResults {
        var results = RecordResults()
        guard !pairs.isEmpty || !recordIDs.isEmpty else { return results }
        let manner = Manner(policy: policy, isAtomic: atomically, clientToken: clientToken)
        var (saves, refused) = try await prepare(pairs, manner, progress: progress)
        for (save, error) in try await seal(&saves) { refused[save.copy.recordID] = error }
        refused.refuseRootsWithShares(in: pairs.map(\.copy))
        saves.removeAll { refused[$0.copy.recordID] != nil }
        let deletes = results.leaveOut(refused, of: &saves, recordIDs, manner)
        try await send(saves, deletes, manner, into: &results)
        refused.merge(await sendAgain(saves, deletes, manner, into: &results)) { $1 }
        await unsealConflicts(&results)
        await completeConflicts(of: saves, in: &results)
        await complete(results.behind)
        results.settleShares(of: saves)
        results.tellCauses(refused, to: saves)
        await grantQuietly(after: results.saves.lazy.map { (id: $0.key, result: $0.value) })
        return results
    }

    /// Uploads the assets of records, and returns the data to send for the records.
    ///
    /// - Returns: `refused`: what cannot be sent, and why.
    func prepare(
        _ records: [HandedOver], _ manner: Manner, progress: Progress? = nil
    ) async throws(CKError) -> (saves: [Save], refused: [CKRecord.ID: CKError]) {
        let all = manner.sendsAll
        let uploaded = try await uploadAssets(of: records.map(\.copy), all: all, progress: progress)
        var (saves, refused) = ([Save](), uploaded.failures)
        for (record, copy) in records where refused[copy.recordID] == nil {
            do throws(CKError) {
                let changes = try copy.changes(all: all, assets: uploaded.contents[copy.recordID] ?? [:])
                saves.append(Save(original: record, copy: copy, changes: changes, fields: changes.fields))
            } catch {
                refused[copy.recordID] = error
            }
        }
        return (saves, refused)
    }

    /// the conflicting records are complete. Records that did not fit into the answer are fetched. If one is
    /// gone by then, or cannot be fetched, the save gets that error.
    private func completeConflicts(of saves: [Save], in results: inout RecordResults) async {
        let incomplete = saves.filter {
            guard case .failure(let error) = results.saves[$0.copy.recordID] else { return false }
            return error.code == .serverRecordChanged && error.serverRecord == nil
        }
        guard !incomplete.isEmpty else { return }
        do throws(CKError) {
            let ids = incomplete.map(\.copy.recordID)
            let fetched = try await records(for: ids, desiredKeys: nil, bringsFiles: false)
            for save in incomplete {
                let id = save.copy.recordID
                let found = fetched[id] ?? .failure(Self.wrongAnswer(to: .fetchRecords))
                let refused = results.saves[id]?.error?.userInfo[TidemarkErrorRequestUUIDKey] as? String
                results.saves[id] = found.mapError(\.ofConflict).flatMap { server in
                    .failure(CKError(serverRecordChanged: server, client: save.copy, requestUUID: refused))
                }
            }
        } catch {
            for save in incomplete { results.saves[save.copy.recordID] = .failure(error) }
        }
    }

    /// gives copies that may lack what the server has the whole record. Edits made since the save was sent stay.
    ///
    /// It does not throw, because the records are saved. If a record cannot be had, its copy keeps its tag. So the next
    /// save of it is a conflict, and does not undo what others have saved.
    private func complete(_ behind: [Behind]) async {
        guard !behind.isEmpty else { return }
        let missing = behind.filter { $0.record == nil }.map(\.save.copy.recordID)
        var found = (try? await records(for: missing, desiredKeys: nil, bringsFiles: false)) ?? [:]
        let sealed = behind.compactMap { item in
            item.record.map { (id: item.save.copy.recordID, result: Result<CKRecord, CKError>.success($0)) }
        }
        for (id, result) in (try? await unsealed(sealed)) ?? [] { found[id] = result }
        for item in behind {
            let record = try? found[item.save.copy.recordID]?.get()
            for copy in [item.save.original, item.save.copy] {
                if let record {
                    copy.apply(record, savedBy: item.save.changes)
                } else {
                    copy.apply(item.metadata, savedBy: item.save.changes)
                }
            }
        }
    }

    private enum Item {
        case save(Save)
        case delete(CKRecord.ID)

        var zoneID: CKRecordZone.ID {
            switch self {
            case .save(let save): save.copy.recordID.zoneID
            case .delete(let id): id.zoneID
            }
        }
    }

    func send(
        _ saves: [Save], _ deletes: [CKRecord.ID], _ manner: Manner, into results: inout RecordResults
    ) async throws(CKError) {
        let zones = (saves.map(Item.save) + deletes.map(Item.delete)).grouped(by: \.zoneID)
        guard !zones.isEmpty else { return }
        var request = WireModifyRecords()
        request.database = wireScope
        request.policy = WireSavePolicy(manner.policy)
        request.atomic = manner.isAtomic
        request.clientChangeToken = Array(manner.clientToken)
        request.zones = zones.map { zoneID, items in
            var zone = WireZoneModifications()
            zone.zone = WireZoneID(zoneID)
            for item in items {
                switch item {
                case .save(let save): zone.saves.append(WireRecordSave(save.changes, fields: save.fields))
                case .delete(let id): zone.deletes.append(id.recordName)
                }
            }
            return zone
        }
        let reply = try await self.request(isChange: true) { [request] stamp in
            var request = request
            if let stamp { request.stamp = stamp }
            return .modifyRecords(request)
        }
        guard case .modifyRecords(let answer) = reply.answer, answer.zones.count == zones.count else {
            throw Self.wrongAnswer(to: .modifyRecords)
        }
        for ((zoneID, items), zone) in zip(zones, answer.zones) {
            try take(zone, of: reply.request, for: items, in: zoneID, into: &results)
        }
    }

    private func take(
        _ zone: WireZoneModificationResults, of request: RequestUUID?, for items: [Item], in zoneID: CKRecordZone.ID,
        into results: inout RecordResults
    ) throws(CKError) {
        var saved = zone.saves[...]
        var deleted = zone.deletes[...]
        for item in items {
            switch item {
            case .save(let save):
                guard let result = saved.popFirst() else { throw Self.wrongAnswer(to: .modifyRecords) }
                let saved = take(result, of: request, for: save, &results.behind)
                results.saves[save.copy.recordID] = saved
            case .delete(let id):
                guard let result = deleted.popFirst() else { throw Self.wrongAnswer(to: .modifyRecords) }
                switch result.result {
                case .deleted: results.deletes[id] = .success(())
                case .failure(let failure): results.deletes[id] = .failure(CKError(failure, to: request))
                case nil: results.deletes[id] = .failure(Self.wrongAnswer(to: .modifyRecords))
                }
            }
        }
    }

    private func take(
        _ result: WireSaveResult, of request: RequestUUID?, for save: Save, _ behind: inout [Behind]
    ) -> Result<CKRecord, CKError> {
        switch result.result {
        case .saved(let saved) where saved.hasRecord || saved.mustFetch:
            let record = saved.hasRecord ? self.record(saved.record, in: save.copy.recordID.zoneID) : nil
            behind.append(Behind(save: save, record: try? record?.get()))
            return .success(save.copy)
        case .saved(let saved) where save.changes.share?.isChange == true:
            // The server knows more of a share than was sent: its URL, and who the participants are.
            behind.append(Behind(save: save, record: nil, metadata: ServerMetadata(saved)))
            return .success(save.copy)
        case .saved(let saved):
            let metadata = ServerMetadata(saved)
            // the record that was handed over is brought up to date as well.
            save.original.apply(metadata, savedBy: save.changes)
            save.copy.apply(metadata, savedBy: save.changes)
            return .success(save.copy)
        case .failure(let failure):
            guard failure.hasServerRecord else { return .failure(CKError(failure.failure, to: request)) }
            let found = record(failure.serverRecord, in: save.copy.recordID.zoneID)
            return found.mapError(\.ofConflict).flatMap { server in
                .failure(
                    CKError(
                        serverRecordChanged: server, client: save.copy, message: failure.failure.message,
                        requestUUID: request.map { "\($0)" }))
            }
        case nil:
            return .failure(Self.wrongAnswer(to: .modifyRecords))
        }
    }

    /// Records by ID, each once.
    ///
    /// A record whose asset the server does not have any more is fetched once more. Between the two requests it may
    /// have got another one, because the machine may have slept.
    ///
    /// - Parameter bringsFiles: whether their assets are downloaded as well.
    func records(
        for ids: [CKRecord.ID], desiredKeys: [CKRecord.FieldKey]?, bringsFiles: Bool = true, progress: Progress? = nil
    ) async throws(CKError) -> [CKRecord.ID: Result<CKRecord, CKError>] {
        var results: [CKRecord.ID: Result<CKRecord, CKError>] = [:]
        do throws(CKError) {
            try await fetch(ids, desiredKeys, bringsFiles, progress, into: &results)
            let lost = results.filter { if case .failure(let error) = $0.value { error.isServersLoss } else { false } }
            try await fetch(Array(lost.keys), desiredKeys, bringsFiles, progress, into: &results)
        } catch {
            await takeBackFiles(of: results.values)
            throw error
        }
        return results
    }

    /// An answer that the server had to cut is asked for until it is whole.
    private func fetch(
        _ ids: [CKRecord.ID], _ desiredKeys: [CKRecord.FieldKey]?, _ bringsFiles: Bool, _ progress: Progress?,
        into results: inout [CKRecord.ID: Result<CKRecord, CKError>]
    ) async throws(CKError) {
        var seen: Set<CKRecord.ID> = []
        var waiting = ids.filter { seen.insert($0).inserted }[...]
        // In the order of the request, which is by zone.
        waiting = Array(waiting).grouped(by: \.zoneID).flatMap(\.elements)[...]
        while !waiting.isEmpty {
            let request = fetchRequest(Array(waiting), desiredKeys)
            let reply = try await self.request { _ in .fetchRecords(request) }
            guard case .fetchRecords(let answer) = reply.answer, answer.covered > 0, answer.covered <= waiting.count,
                answer.results.count == answer.covered
            else { throw Self.wrongAnswer(to: .fetchRecords) }
            typealias Fetched = (id: CKRecord.ID, result: Result<CKRecord, CKError>)
            let fetched = zip(waiting, answer.results).map { id, result -> Fetched in
                switch result.result {
                case .record(let record): (id: id, result: self.record(record, in: id.zoneID))
                case .failure(let failure): (id: id, result: .failure(CKError(failure, to: reply.request)))
                case nil: (id: id, result: .failure(Self.wrongAnswer(to: .fetchRecords)))
                }
            }
            let readable = try await unsealed(fetched)
            for (id, result) in bringsFiles ? try await withFiles(readable, progress: progress) : readable {
                results[id] = result
            }
            waiting = waiting.dropFirst(Int(answer.covered))
        }
    }

    private func fetchRequest(_ ids: [CKRecord.ID], _ desiredKeys: [CKRecord.FieldKey]?) -> WireFetchRecords {
        var request = WireFetchRecords()
        request.database = wireScope
        if let desiredKeys { request.desiredKeys = WireDesiredKeys(desiredKeys) }
        request.zones = ids.grouped(by: \.zoneID).map { zoneID, ids in
            var zone = WireZoneRecordNames()
            zone.zone = WireZoneID(zoneID)
            zone.names = ids.map(\.recordName)
            return zone
        }
        return request
    }
}

extension CKRecord {
    /// The record with a copy of it as it is now.
    var handedOver: CloudDatabase.HandedOver { (original: self, copy: copied()) }
}

extension CloudDatabase {
    /// A record as it came from this database's server.
    func record(_ wire: WireRecord, in zoneID: CKRecordZone.ID) -> Result<CKRecord, CKError> {
        CKRecord.make(wire, in: zoneID, shareURLs)
    }
}

extension CKRecord {
    /// A record as it came, or `internalError` if its fields cannot be understood (R-219: one record fails, not the page). A share that
    /// comes without its participants fails too. If it were read as a share with nobody in it, its next save would remove everybody.
    static func make(
        _ wire: WireRecord, in zoneID: CKRecordZone.ID, _ shareURLs: ShareURLs = .unknown
    ) -> Result<CKRecord, CKError> {
        do {
            let rule: FieldKeyRule = wire.type == CKRecord.SystemType.share ? .share : .app
            let fields = try FieldMap(validating: wire.fields, keys: rule)
            let metadata = ServerMetadata(
                tag: wire.tag, createdAt: wire.createdAt, modifiedAt: wire.modifiedAt,
                createdBy: wire.createdBy, modifiedBy: wire.modifiedBy)
            let recordID = CKRecord.ID(recordName: wire.name, zoneID: zoneID)
            let state = RecordContents(
                fields: fields, metadata: metadata, parentName: wire.parent.isEmpty ? nil : wire.parent,
                share: share(named: wire.shareName, in: zoneID), zoneID: zoneID)
            guard wire.hasShare || wire.type != CKRecord.SystemType.share else {
                return .failure(
                    unreadable("The server sent the share \(wire.name) without its participants. Tell its operator."))
            }
            let sharing =
                wire.hasShare
                ? ShareState(wire.share, of: recordID, ownerName: metadata.createdBy, shareURLs) : nil
            return .success(
                CKRecord.object(recordType: wire.type, recordID: recordID, state: state, sharing: sharing))
        } catch {
            return .failure(unreadable("The fields of record \(wire.name) cannot be read (\(error)). Update the app."))
        }
    }

    ///
    private static func share(named name: String, in zoneID: CKRecordZone.ID) -> CKRecord.Reference? {
        guard !name.isEmpty else { return nil }
        return CKRecord.Reference(recordID: CKRecord.ID(recordName: name, zoneID: zoneID), action: .none)
    }

    private static func unreadable(_ text: String) -> CKError {
        CKError(.internalError, message: text, userInfo: [CKError.unreadableKey: true])
    }
}

extension ServerMetadata {
    init(_ wire: WireSavedRecord) {
        self.init(
            tag: wire.tag, createdAt: wire.createdAt, modifiedAt: wire.modifiedAt, createdBy: wire.createdBy,
            modifiedBy: wire.modifiedBy)
    }
}

extension WireRecordSave {
    /// - Parameter fields: the changed fields, as they are to be stored.
    init(_ changes: RecordChanges, fields: FieldMap) {
        self.init()
        name = changes.recordID.recordName
        type = changes.recordType
        tag = changes.tag
        self.fields = fields.bytes
        switch changes.parent {
        case .unchanged:
            parentChange = .parentUnchanged
        case .set(let name):
            parentChange = .parentSet
            parent = name
        case .removed:
            parentChange = .parentRemoved
        }
        if let edit = changes.share { share = WireShareSave(edit) }
    }
}

extension WireSavePolicy {
    init(_ policy: CKModifyRecordsOperation.RecordSavePolicy) {
        switch policy {
        case .ifServerRecordUnchanged: self = .ifServerRecordUnchanged
        case .changedKeys: self = .changedKeys
        case .allKeys: self = .allKeys
        }
    }
}
