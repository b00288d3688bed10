// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkFields
import TidemarkTestSupport
import TidemarkWire

@testable import TidemarkKit

/// Saves of shares, on a server that answers as a test says.
@Suite struct CKShareSavingTests {
    private let scheduler = ManualScheduler()
    private let server: ScriptedServer
    private let container: CKContainer
    private let zoneID = CKRecordZone.ID(zoneName: "Plans")

    init() {
        server = ScriptedServer(scheduler)
        container = .scripted(server, scheduler)
    }

    /// The server answers a save with this, and a fetch with `found`; nil: the record is gone.
    private func answer(
        _ result: WireSaveResult, found: WireRecord?, meanwhile edit: @escaping @Sendable () -> Void = {}
    ) {
        server.answer { envelope in
            switch envelope.request {
            case .modifyRecords:
                edit()
                var zone = WireZoneModificationResults()
                zone.saves = [result]
                var answer = WireModifyRecordsAnswer()
                answer.zones = [zone]
                return .modifyRecords(answer)
            case .fetchRecords:
                var record = WireRecordResult()
                if let found { record.record = found } else { record.failure.code = .unknownItem }
                var answer = WireFetchRecordsAnswer()
                (answer.results, answer.covered) = ([record], 1)
                return .fetchRecords(answer)
            default: return nil
            }
        }
    }

    private static func saved(_ tag: UInt8) -> WireSaveResult {
        var result = WireSaveResult()
        result.saved.tag = [tag]
        return result
    }

    private func save(_ share: CKShare) throws {
        _ = try scheduler.complete { [container] in
            try await container.privateCloudDatabase.modifyRecords(
                saving: [share], deleting: [], savePolicy: .changedKeys, atomically: false
            ).saveResults.mapValues { try $0.get() }
        }
    }

    private var sent: [WireRecordSave] {
        server.envelopes.flatMap { envelope -> [WireRecordSave] in
            if case .modifyRecords(let request) = envelope.request { request.zones.flatMap(\.saves) } else { [] }
        }
    }

    private var fetchCount: Int {
        server.envelopes.count { if case .fetchRecords = $0.request { true } else { false } }
    }

    /// As it comes from a server, with `_bob` and `_carol`.
    private func fetched() throws -> CKShare {
        let wire = WireRecord.share([.person(1, "_bob", .accepted), .person(2, "_carol")])
        return try #require(try CKRecord.make(wire, in: zoneID).get() as? CKShare)
    }

    private func person(_ name: String) -> CKShare.Participant {
        CKShare.Participant(CKUserIdentity(userRecordID: CKRecord.ID(recordName: name), hasiCloudAccount: true))
    }

    private func names(_ share: CKShare) -> [String] {
        share.participants.map { $0.userIdentity.userRecordID?.recordName ?? "" }
    }

    @Test func `R-306, R-309: the first save says who takes part, and brings the URL`() throws {
        let share = CKShare(recordZoneID: zoneID)
        share[CKShare.SystemFieldKey.title] = "Plans"
        let lookup = CKUserIdentity.LookupInfo(emailAddress: "c@example.org")
        let (bob, somebody) = (person("_bob"), CKShare.Participant(CKUserIdentity(lookupInfo: lookup)))
        bob.permission = .readWrite
        share.addParticipant(bob)
        share.addParticipant(somebody)
        var stored = WireRecord.share(tag: 7, [.person(1, "_bob"), .person(2, "_x")])
        stored.share.participants[1].id = UUID(uuidString: bob.participantID)?.bytes ?? []
        stored.share.participants[2].id = UUID(uuidString: somebody.participantID)?.bytes ?? []
        stored.share.participants[2].user = ""
        stored.share.participants[2].email = "c@example.org"
        answer(Self.saved(7), found: stored)
        try save(share)
        let first = try #require(sent.first)
        #expect(first.type == "cloudkit.share" && first.name == "cloudkit.zoneshare" && first.tag.isEmpty)
        #expect(first.share.setsParticipants && first.share.publicPermission == .noAccess)
        #expect(first.share.participants.map(\.user) == ["_bob", ""])
        #expect(first.share.participants.map(\.email) == ["", "c@example.org"])
        #expect(first.share.participants.map(\.permission) == [.readWrite, .readOnly])
        #expect(first.share.participants.map(\.role) == [.privateUser, .privateUser])
        #expect(first.share.participants.map(\.id) == stored.share.participants.dropFirst().map(\.id))
        #expect(share.url?.absoluteString == "https://cloud.example.org:8443/share/link")
        #expect(share.changeTag == [7] && share.changedKeys().isEmpty)
        #expect(names(share) == ["__defaultOwner__", "_bob", ""])
        #expect(share.participants[1].permission == .readOnly, "what the server says counts")
    }

    @Test func `R-115, R-331: a save of fields says nothing of the share, and fetches nothing`() throws {
        let share = try fetched()
        share["colour"] = 3
        answer(Self.saved(2), found: nil)
        try save(share)
        let first = try #require(sent.first)
        #expect(first.hasShare && !first.share.setsParticipants && first.share.participants.isEmpty)
        #expect(first.share.publicPermission == .unspecified && first.tag == [1])
        #expect(fetchCount == 0 && share.changeTag == [2] && names(share).count == 3)
    }

    @Test func `R-308, R-309, R-311: a save names all who stay, by the IDs that the server gave them`() throws {
        let share = try fetched()
        share.participants[1].permission = .readWrite
        share.removeParticipant(share.participants[2])
        answer(Self.saved(2), found: .share(tag: 2, [.person(1, "_bob", .accepted)]))
        try save(share)
        let first = try #require(sent.first?.share)
        #expect(first.setsParticipants && first.participants.map(\.user) == ["_bob"])
        #expect(first.participants.first?.id == [UInt8](repeating: 1, count: 16))
        #expect(first.participants.first?.permission == .readWrite && first.publicPermission == .noAccess)
        share.publicPermission = .readOnly
        answer(Self.saved(3), found: .share(tag: 3))
        try save(share)
        let second = try #require(sent.last?.share)
        #expect(second.publicPermission == .readOnly && second.participants.map(\.user) == ["_bob"])
        #expect(share.publicPermission == .none && names(share).count == 1, "what the server says counts")
    }

    @Test func `R-054, R-311: what the app changes while a save is under way is still to be saved`() throws {
        let share = try fetched()
        share.addParticipant(person("_dave"))
        let eve = person("_eve")
        // The server has another ID for `_dave`, and `_frank` was invited by an administrator.
        let stored = WireRecord.share(
            tag: 2,
            [.person(1, "_bob", .accepted), .person(2, "_carol"), .person(4, "_dave"), .person(6, "_frank")])
        answer(Self.saved(2), found: stored) {
            share.participants[1].permission = .readWrite
            share.removeParticipant(share.participants[2])
            share.addParticipant(eve)
        }
        try save(share)
        #expect(sent.first?.share.participants.map(\.user) == ["_bob", "_carol", "_dave"])
        #expect(names(share) == ["__defaultOwner__", "_bob", "_dave", "_frank", "_eve"] && share.changeTag == [2])
        #expect(share.participants[1].permission == .readWrite && share.participants[1].acceptanceStatus == .accepted)
        #expect(share.participants[2].participantID == WireParticipant.person(4, "").idText)
        answer(Self.saved(3), found: stored)
        try save(share)
        let next = try #require(sent.last?.share)
        #expect(next.setsParticipants && next.participants.map(\.user) == ["_bob", "_dave", "_frank", "_eve"])
        #expect(next.participants.map(\.permission) == [.readWrite, .readOnly, .readOnly, .readOnly])
    }

    @Test func `R-054, R-311: what the app sets in its own objects during a save, and after it, is still to be saved`()
        throws
    {
        let share = CKShare(recordZoneID: zoneID)
        let (bob, carol) = (person("_bob"), person("_carol"))
        share.addParticipant(bob)
        share.addParticipant(carol)
        // The server has other IDs for them, and one has joined.
        answer(Self.saved(2), found: .share(tag: 2, [.person(1, "_bob", .accepted), .person(2, "_carol")])) {
            bob.permission = .readWrite
        }
        try save(share)
        #expect(share.participants[1] === bob && share.participants[2] === carol)
        #expect(bob.participantID == WireParticipant.person(1, "").idText && bob.acceptanceStatus == .accepted)
        #expect(bob.permission == .readWrite && share.hasSharingChanges)
        carol.role = .administrator
        answer(Self.saved(3), found: .share(tag: 3, [.person(1, "_bob", .accepted), .person(2, "_carol")]))
        try save(share)
        let next = try #require(sent.last?.share)
        #expect(next.participants.map(\.user) == ["_bob", "_carol"])
        #expect(next.participants.map(\.permission) == [.readWrite, .readOnly])
        #expect(next.participants.map(\.role) == [.privateUser, .administrator])
        #expect(bob.permission == .readOnly && carol.role == .privateUser, "what the server says counts")
    }

    @Test func `R-306, R-054: a share that cannot be fetched after its save is saved all the same`() throws {
        let share = CKShare(recordZoneID: zoneID)
        answer(Self.saved(7), found: nil)
        try save(share)
        #expect(share.changeTag == [7] && share.url == nil && fetchCount == 1)
        try save(share)
        #expect(sent.last?.tag == [7] && sent.last?.share.setsParticipants == false, "nothing has changed since")
    }

    @Test func `R-219, R-054: a share that comes back without its participants removes nobody`() throws {
        let share = try fetched()
        share.addParticipant(person("_dave"))
        answer(Self.saved(2), found: .shareWithoutParticipants)
        try save(share)
        #expect(names(share) == ["__defaultOwner__", "_bob", "_carol", "_dave"] && share.changeTag == [2])
        #expect(!share.hasSharingChanges)
        var result = WireSaveResult()
        result.failure.failure.code = .serverRecordChanged
        result.failure.serverRecord = .shareWithoutParticipants
        answer(result, found: nil)
        share.addParticipant(person("_eve"))
        let error = #expect(throws: CKError.self) { try save(share) }
        #expect(error?.code == .serverRejectedRequest, "there is nothing to merge with")
        #expect(names(share).count == 5 && share.hasSharingChanges)
    }

    @Test func `R-054: a share that comes with the answer is not fetched`() throws {
        let share = CKShare(recordZoneID: zoneID)
        var result = Self.saved(7)
        result.saved.record = .share(tag: 7, link: "with-it")
        answer(result, found: nil)
        try save(share)
        #expect(share.url?.lastPathComponent == "with-it" && share.changeTag == [7] && fetchCount == 0)
    }

    @Test func `R-111, R-113, R-312: a conflict shows the share before and on the server, and merges by people`() throws
    {
        let share = try fetched()
        share.addParticipant(person("_dave"))
        share.removeParticipant(share.participants[1])
        share["colour"] = 3
        var result = WireSaveResult()
        result.failure.failure.code = .serverRecordChanged
        result.failure.serverRecord = .share(
            tag: 2, [.person(1, "_bob", .accepted), .person(2, "_carol", .accepted), .person(6, "_frank")])
        answer(result, found: nil)
        let error = #expect(throws: CKError.self) { try save(share) }
        let ancestor = try #require(error?.ancestorRecord as? CKShare)
        let theirs = try #require(error?.serverRecord as? CKShare)
        #expect(names(ancestor) == ["__defaultOwner__", "_bob", "_carol"] && !ancestor.hasSharingChanges)
        #expect(names(theirs) == ["__defaultOwner__", "_bob", "_carol", "_frank"] && theirs.url != nil)
        let merged = try #require(error?.merged() as? CKShare)
        #expect(names(merged) == ["__defaultOwner__", "_carol", "_frank", "_dave"] && merged.hasChanges)
        #expect(merged.changeTag == [2] && merged["colour"] as? Int == 3)
        #expect(merged.participants[1].acceptanceStatus == .accepted)
        answer(Self.saved(3), found: nil)
        try save(merged)
        #expect(sent.last?.tag == [2] && sent.last?.share.participants.map(\.user) == ["_carol", "_frank", "_dave"])
    }

    @Test func `R-330: who deletes the share in the shared database leaves: the owner's zone is named`() throws {
        let zoneID = CKRecordZone.ID(zoneName: "Plans", ownerName: "_bob")
        let id = CKRecord.ID(recordName: CKRecordNameZoneWideShare, zoneID: zoneID)
        _ = try scheduler.complete { [container] in
            try? await container.sharedCloudDatabase.deleteRecord(withID: id)
        }
        guard case .modifyRecords(let request) = server.envelopes.last?.request else {
            Issue.record("nothing was deleted")
            return
        }
        #expect(request.database == .shared && request.zones.map(\.zone.owner) == ["_bob"])
        #expect(request.zones.map(\.zone.name) == ["Plans"] && request.zones.map(\.deletes) == [[id.recordName]])
    }
}
