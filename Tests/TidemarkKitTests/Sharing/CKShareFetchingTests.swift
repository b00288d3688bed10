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
    private static func answer(to request: WireClientEnvelope) -> WireServerEnvelope.OneOfAnswer? {
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
                answer.changes = [(CKRecordNameZoneWideShare, CKRecord.SystemType.share), ("n", "Note")].map {
                    name, type in
                    var change = WireZoneChange()
                    change.record.name = name
                    change.record.type = type
                    change.record.tag = [1]
                    change.record.createdBy = "_owner"
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

    @Test func `R-300, R-555: an engine tells of a share as a CKShare, and of its end as of any record's`() throws {
        server.answer(Self.answer)
        let container = CKContainer(
            context: CloudContext(
                containerIdentifier: "iCloud.test.\(UUID().uuidString)", token: "alice", transport: server,
                scheduler: scheduler, engineScheduler: scheduler))
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
}
