// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkTestSupport
import TidemarkWire

@testable import TidemarkKit

/// Shares as a server sends them, through a connection and an engine to the app's delegate.
@Suite struct CKShareFetchingTests {
    private let scheduler = ManualScheduler()
    private let server: ScriptedServer

    init() {
        server = ScriptedServer(scheduler)
    }

    /// One zone, in which there is a share and a note; then the share is gone.
    private static func answer(
        to request: WireClientEnvelope, _ share: WireRecord = .share(owner: "_owner")
    ) -> WireServerEnvelope.OneOfAnswer? {
        switch request.request {
        case .fetchDatabaseChanges(let feed):
            var answer = WireFetchDatabaseChangesAnswer()
            var zone = WireZoneID()
            zone.name = "Notes"
            answer.changed = [zone]
            answer.token = feed.token + [1]
            return .fetchDatabaseChanges(answer)
        case .fetchZoneChanges(let feed):
            var answer = WireFetchZoneChangesAnswer()
            if feed.token.isEmpty {
                var note = WireRecord()
                (note.name, note.type, note.tag) = ("n", "Note", [1])
                answer.changes = [share, note].map { record in
                    var change = WireZoneChange()
                    change.record = record
                    return change
                }
            } else {
                var change = WireZoneChange()
                change.deleted.name = CKRecordNameZoneWideShare
                change.deleted.type = CKRecord.SystemType.share
                answer.changes = [change]
            }
            answer.token = feed.token + [2]
            return .fetchZoneChanges(answer)
        default: return nil
        }
    }

    /// What an engine tells of the zone in two fetches.
    private func fetchTwice() throws -> [CKSyncEngine.Event.FetchedRecordZoneChanges] {
        let container = CKContainer.scripted(server, scheduler)
        let delegate = RecordingDelegate()
        var fetched: [CKSyncEngine.Event.FetchedRecordZoneChanges] = []
        delegate.onEvent = { event, _ in
            if case .fetchedRecordZoneChanges(let changes) = event { fetched.append(changes) }
        }
        var configuration = CKSyncEngine.Configuration(
            database: container.privateCloudDatabase, stateSerialization: nil, delegate: delegate)
        configuration.automaticallySync = false
        let engine = CKSyncEngine(configuration)
        for _ in 0..<2 { try scheduler.complete { try await engine.fetchChanges() } }
        return fetched
    }

    @Test func `R-300, R-555: an engine tells of a share as a CKShare, and of its end as of any record's`() throws {
        server.answer { Self.answer(to: $0) }
        let fetched = try fetchTwice()
        try #require(fetched.count == 2)
        let records = fetched[0].modifications.map(\.record)
        let share = try #require(records.first as? CKShare)
        #expect(share.recordID.recordName == CKRecordNameZoneWideShare && share.recordID.zoneID.zoneName == "Notes")
        #expect(share.owner.userIdentity.userRecordID?.recordName == "_owner" && share.recordChangeTag != nil)
        #expect(records.count == 2 && !(records[1] is CKShare))
        #expect(fetched[1].modifications.isEmpty)
        #expect(fetched[1].deletions.map(\.recordID) == [share.recordID])
        #expect(fetched[1].deletions.map(\.recordType) == [CKRecord.SystemType.share])
    }

    @Test func `R-219: a share that comes without its participants holds up no other record`() throws {
        server.answer { Self.answer(to: $0, .shareWithoutParticipants) }
        let fetched = try fetchTwice()
        #expect(fetched.first?.modifications.map(\.record.recordID.recordName) == ["n"])
    }
}
