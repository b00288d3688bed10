// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkFields
import TidemarkTestSupport
import TidemarkWire

@testable import TidemarkKit

/// The share of a record with what is below it, and its root, on a server that answers as a test says.
@Suite struct CKShareRootTests {
    private let scheduler = ManualScheduler()
    private let server: ScriptedServer
    private let container: CKContainer
    private let zoneID = CKRecordZone.ID(zoneName: "Lists")

    init() {
        server = ScriptedServer(scheduler)
        container = .scripted(server, scheduler)
    }

    private func id(_ name: String) -> CKRecord.ID { CKRecord.ID(recordName: name, zoneID: zoneID) }

    private func reference(_ name: String) -> CKRecord.Reference {
        CKRecord.Reference(recordID: id(name), action: .none)
    }

    /// A list as it comes from a server.
    private func fetched(_ name: String = "list", share: String = "", tag: UInt8 = 1) throws -> CKRecord {
        try CKRecord.make(.list(name, share: share, tag: tag), in: zoneID).get()
    }

    private func archived(_ record: CKRecord, onlySystemFields: Bool = false) throws -> CKRecord {
        guard onlySystemFields else {
            let data = try NSKeyedArchiver.archivedData(withRootObject: record, requiringSecureCoding: true)
            return try #require(try NSKeyedUnarchiver.unarchivedObject(ofClass: CKRecord.self, from: data))
        }
        let archiver = NSKeyedArchiver(requiringSecureCoding: true)
        record.encodeSystemFields(with: archiver)
        archiver.finishEncoding()
        let unarchiver = try NSKeyedUnarchiver(forReadingFrom: archiver.encodedData)
        return try #require(
            record is CKShare ? CKShare(coder: unarchiver) : CKRecord(coder: unarchiver))
    }

    // MARK: Without a server

    @Test func `R-986, R-113: a share that was made is the root's at once, and none of what the server has`() throws {
        let root = try fetched()
        #expect(root.share == nil && !root.hasChanges)
        let share = CKShare(rootRecord: root, shareID: id("share"))
        #expect(root.share == reference("share") && root.hasChanges && root.changedKeys() == [])
        #expect(share.rootID == id("list") && share.recordID == id("share"))
        #expect(root.ancestor().share == nil && !root.ancestor().hasChanges)
        let shared = try fetched(share: "old")
        #expect(shared.share == reference("old") && !shared.hasChanges && shared.ancestor().share == reference("old"))
        let again = CKShare(rootRecord: shared)
        #expect(shared.share?.recordID == again.recordID && shared.ancestor().share == reference("old"))
        let elsewhere = CKRecord.ID(recordName: "share", zoneID: CKRecordZone.ID(zoneName: "Others"))
        #expect(CKShare(rootRecord: root, shareID: elsewhere).rootID == nil, "R-301: it names no root, and is refused")
    }

    @Test(arguments: [false, true])
    func `R-049, R-051, R-986: archives keep a share that is still to be saved, and what is shared`(
        onlySystemFields: Bool
    ) throws {
        let root = try fetched(share: "old")
        var kept = try archived(root, onlySystemFields: onlySystemFields)
        #expect(kept.share == reference("old") && !kept.hasChanges && kept.ancestor().share == reference("old"))
        let share = CKShare(rootRecord: root, shareID: id("new"))
        kept = try archived(root, onlySystemFields: onlySystemFields)
        #expect(kept.share == reference("new") && kept.hasChanges && kept.ancestor().share == reference("old"))
        #expect(kept.idSavedWithIt == id("new"))
        let keptShare = try #require(try archived(share, onlySystemFields: onlySystemFields) as? CKShare)
        #expect(keptShare.rootID == id("list") && keptShare.idSavedWithIt == id("list"))
        #expect(try keptShare.edit().rootName == "list")
        #expect((share.copy() as? CKShare)?.rootID == id("list"))
        #expect(CKShare(recordZoneID: zoneID).rootID == nil && CKShare(recordZoneID: zoneID).idSavedWithIt == nil)
    }

    @Test func `R-302, R-555: a share that comes from a server names its root`() throws {
        let share = try #require(try CKRecord.make(.share(of: "list"), in: zoneID).get() as? CKShare)
        #expect(share.recordID == id("share") && share.rootID == id("list") && !share.hasSharingChanges)
        #expect(share.idSavedWithIt == nil, "it is saved alone from then on")
        let whole = try #require(try CKRecord.make(.share(), in: zoneID).get() as? CKShare)
        #expect(whole.rootID == nil)
    }

    @Test func `R-113, R-986: a merge keeps a new share, and that of somebody else before it`() throws {
        let client = try fetched()
        client["name"] = "mine"
        let share = CKShare(rootRecord: client, shareID: id("new"))
        let merged = TidemarkMerge().merge(
            ancestor: client.ancestor(), server: try fetched(tag: 2), client: client)
        #expect(merged.share == reference("new") && merged.hasChanges && merged.idSavedWithIt == share.recordID)
        let lost = TidemarkMerge().merge(
            ancestor: client.ancestor(), server: try fetched(share: "theirs", tag: 2), client: client)
        #expect(lost.share == reference("theirs") && lost.idSavedWithIt == nil)
    }

    // MARK: Saving

    /// The server saves everything. What is saved has the tag 2, and shares are told as `share` says.
    private func answerSaves(
        root: WireSaveResult = .saved(2), share: WireSaveResult = .saved(2),
        found: WireRecord = .share(of: "list", tag: 2)
    ) {
        server.answer { envelope in
            switch envelope.request {
            case .modifyRecords(let request):
                var answer = WireModifyRecordsAnswer()
                answer.zones = request.zones.map { zone in
                    var results = WireZoneModificationResults()
                    results.saves = zone.saves.map { $0.type == CKRecord.SystemType.share ? share : root }
                    results.deletes = zone.deletes.map { _ in .done }
                    return results
                }
                return .modifyRecords(answer)
            case .fetchRecords(let request):
                var answer = WireFetchRecordsAnswer()
                answer.results = request.zones.flatMap(\.names).map { _ in
                    var result = WireRecordResult()
                    result.record = found
                    return result
                }
                answer.covered = UInt32(answer.results.count)
                return .fetchRecords(answer)
            default: return nil
            }
        }
    }

    private func save(
        _ records: [CKRecord], deleting names: [String] = []
    ) throws -> [CKRecord.ID: Result<CKRecord, any Error>] {
        try scheduler.complete { [container, zoneID] in
            try await container.privateCloudDatabase.modifyRecords(
                saving: records, deleting: names.map { CKRecord.ID(recordName: $0, zoneID: zoneID) },
                savePolicy: .ifServerRecordUnchanged, atomically: false
            ).saveResults
        }
    }

    private func code(_ result: Result<CKRecord, any Error>?) -> CKError.Code? { (result?.error as? CKError)?.code }

    private var sent: [WireRecordSave] {
        server.envelopes.flatMap { envelope -> [WireRecordSave] in
            if case .modifyRecords(let request) = envelope.request { request.zones.flatMap(\.saves) } else { [] }
        }
    }

    @Test func `R-301, R-306: root and share are one request, which names the root; then the share has its URL`() throws
    {
        let root = CKRecord(recordType: "List", recordID: id("list"))
        let share = CKShare(rootRecord: root, shareID: id("share"))
        answerSaves()
        let results = try save([root, share])
        #expect(results.values.allSatisfy { $0.error == nil })
        #expect(sent.map(\.name) == ["list", "share"] && sent.map(\.share.root) == ["", "list"])
        #expect(sent.map(\.hasShare) == [false, true])
        #expect(root.share == reference("share") && !root.hasChanges && root.ancestor().share == reference("share"))
        #expect(share.url?.lastPathComponent == "link" && share.rootID == id("list"))
        #expect(share.idSavedWithIt == nil)
    }

    @Test func `R-986: a root that is saved without its share keeps it for the next save`() throws {
        let root = try fetched()
        let share = CKShare(rootRecord: root, shareID: id("share"))
        answerSaves()
        #expect(code(try save([root])[id("list")]) == nil)
        #expect(root.share == reference("share") && root.idSavedWithIt == id("share"))
        // The answer has the whole record, which is the root of no share.
        var whole = WireSaveResult.saved(3)
        whole.saved.record = .list("list", tag: 3)
        answerSaves(root: whole)
        #expect(code(try save([root])[id("list")]) == nil)
        #expect(root.share == reference("share") && root.idSavedWithIt == id("share"))
        whole.saved.record = .list("list", share: "share", tag: 4)
        answerSaves(root: whole)
        _ = try save([root, share])
        #expect(root.share == reference("share") && !root.hasChanges)
    }

    @Test func `R-303: what is shared already is refused with its code, and the root with it`() throws {
        let root = try fetched()
        let share = CKShare(rootRecord: root, shareID: id("share"))
        answerSaves(root: .failed(.batchRequestFailed), share: .failed(.alreadyShared))
        let results = try save([root, share])
        #expect(code(results[id("share")]) == .alreadyShared && code(results[id("list")]) == .batchRequestFailed)
        #expect(root.share == reference("share") && root.hasChanges, "the app decides what becomes of it")
    }

    @Test func `R-986, R-311: a root is not saved if its share cannot be sent, nor a share without its root`() throws {
        let root = CKRecord(recordType: "List", recordID: id("list"))
        let share = CKShare(rootRecord: root, shareID: id("share"))
        share.publicPermission = .readOnly
        share.addParticipant(
            CKShare.Participant(
                CKUserIdentity(userRecordID: CKRecord.ID(recordName: "_bob"), hasiCloudAccount: true)))
        answerSaves()
        var results = try save([root, share, CKRecord(recordType: "List", recordID: id("other"))])
        #expect(code(results[id("share")]) == .invalidArguments && code(results[id("list")]) == .batchRequestFailed)
        #expect(sent.map(\.name) == ["other"], "nothing else is refused")
        share.publicPermission = .none
        root.parent = CKRecord.Reference(recordID: id("other"), action: .deleteSelf)
        results = try save([share, root])
        #expect(code(results[id("share")]) == .batchRequestFailed && code(results[id("list")]) == .invalidArguments)
        #expect(sent.count == 1)
    }

    @Test func `R-326, R-987: a root that is saved as its share is deleted has none any more`() throws {
        let root = try fetched(share: "share")
        root["name"] = "private"
        let other = try fetched("other", share: "another")
        other["name"] = "still shared"
        answerSaves()
        _ = try save([root, other], deleting: ["share"])
        #expect(root.share == nil && root.ancestor().share == nil && !root.hasChanges)
        #expect(other.share == reference("another"))
        // A share that was made meanwhile is not the one that was deleted.
        let again = try fetched(share: "share")
        let next = CKShare(rootRecord: again, shareID: id("next"))
        _ = try save([again, next], deleting: ["share"])
        #expect(again.share == reference("next") && !again.hasChanges)
    }

    @Test func `R-054, R-326: the whole record of an answer tells that a share has ended`() throws {
        let root = try fetched(share: "share")
        root["name"] = "mine"
        var whole = WireSaveResult.saved(3)
        whole.saved.record = .list("list", tag: 3)
        answerSaves(root: whole)
        _ = try save([root])
        #expect(root.share == nil && root.ancestor().share == nil)
    }

    // MARK: Metadata

    private func fetchMetadata(
        _ change: (CKFetchShareMetadataOperation) -> Void = { _ in }, _ answer: WireShareMetadata
    ) throws -> CKShare.Metadata {
        server.answer { envelope in
            guard case .fetchShareMetadata(let request) = envelope.request else { return nil }
            var result = WireFetchShareMetadataAnswer()
            result.results = request.links.map { _ in
                var item = WireShareMetadataResult()
                item.metadata = answer
                return item
            }
            return .fetchShareMetadata(result)
        }
        let url = try #require(URL(string: "https://a.example/share/open"))
        // An operation works on threads of its own. It asks as this does.
        let operation = CKFetchShareMetadataOperation(shareURLs: [url])
        change(operation)
        let roots = CloudDatabase.MetadataRoots(
            areWanted: operation.shouldFetchRootRecord, keys: operation.rootRecordDesiredKeys)
        let found = try scheduler.complete { [container] in
            try await container.sharedCloudDatabase.cloud.shareMetadata(of: [url], roots: roots)
        }
        return try #require(found[url]).get()
    }

    private func metadata(root: String = "list", record: WireRecord? = nil) -> WireShareMetadata {
        var metadata = WireShareMetadata()
        metadata.zone = .named("Lists", of: "_bob")
        metadata.share = .share(of: "list", owner: "_bob", [.person(1, "")])
        (metadata.role, metadata.status, metadata.permission) = (.privateUser, .pending, .readOnly)
        metadata.owner = .owner("_bob")
        metadata.root = root
        if let record { metadata.rootRecord = record }
        return metadata
    }

    private var asked: WireFetchShareMetadata? {
        if case .fetchShareMetadata(let request) = server.envelopes.last?.request { request } else { nil }
    }

    @Test func `R-315, R-987: metadata name the root of a hierarchy, and bring it if it is asked for`() throws {
        let ofBob = CKRecordZone.ID(zoneName: "Lists", ownerName: "_bob")
        let rootID = CKRecord.ID(recordName: "list", zoneID: ofBob)
        let plain = try fetchMetadata({ _ in }, metadata())
        #expect(
            plain.hierarchicalRootRecordID == rootID && plain.rootRecord == nil && plain.share.recordID.zoneID == ofBob)
        #expect(asked?.wantsRoots == false && asked?.hasRootKeys == false)

        let record = WireRecord.list(
            "list", share: "share",
            fields: [Field("name", .string("Food")), Field("secret", .bytes([1]), isEncrypted: true)])
        let whole = try fetchMetadata({ $0.shouldFetchRootRecord = true }, metadata(record: record))
        #expect(asked?.wantsRoots == true && asked?.hasRootKeys == false)
        let root = try #require(whole.rootRecord)
        #expect(root.recordID == rootID && root["name"] as? String == "Food")
        #expect(root.encryptedValues["secret"] == nil, "nobody who is only invited has the key")
        #expect(root.share?.recordID == whole.share.recordID)

        _ = try fetchMetadata(
            { operation in
                operation.shouldFetchRootRecord = true
                operation.rootRecordDesiredKeys = ["name"]
            }, metadata(record: record))
        #expect(asked?.rootKeys.keys == ["name"])
    }

    @Test func `R-219, R-987: a root that cannot be read, and that of a whole zone, are left out`() throws {
        var broken = WireRecord.list("list")
        broken.fields = [0xFF, 0xFF]
        for answer in [
            metadata(record: broken), metadata(record: .list("another")), metadata(root: "", record: .list("list")),
        ] {
            let found = try fetchMetadata({ $0.shouldFetchRootRecord = true }, answer)
            #expect(found.rootRecord == nil && found.share.recordID.recordName == "share")
        }
    }
}

extension WireRecord {
    /// A record that may be the root of a share.
    fileprivate static func list(_ name: String, share: String = "", tag: UInt8 = 1, fields: [Field] = []) -> WireRecord
    {
        var record = WireRecord()
        (record.name, record.type, record.tag, record.shareName) = (name, "List", [tag], share)
        record.fields = (try? FieldMap(fields))?.bytes ?? []
        return record
    }

    /// The CKShare record "share" of a hierarchy.
    fileprivate static func share(
        of root: String, owner: String = "", _ others: [WireParticipant] = [], tag: UInt8 = 1
    ) -> WireRecord {
        var record = share(tag: tag, owner: owner, others)
        record.name = "share"
        record.share.root = root
        return record
    }
}

extension WireSaveResult {
    fileprivate static func saved(_ tag: UInt8) -> WireSaveResult {
        var result = WireSaveResult()
        result.saved.tag = [tag]
        return result
    }

    fileprivate static func failed(_ code: WireErrorCode) -> WireSaveResult {
        var result = WireSaveResult()
        result.failure.failure.code = code
        return result
    }
}

extension WireDeleteResult {
    fileprivate static var done: WireDeleteResult {
        var result = WireDeleteResult()
        result.deleted = WireDone()
        return result
    }
}
