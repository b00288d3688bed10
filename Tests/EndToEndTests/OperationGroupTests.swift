// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkKit
import TidemarkTestSupport

@Suite struct OperationGroupTests {
    private final class Delegate: CKSyncEngineDelegate {
        func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {}
        func nextRecordZoneChangeBatch(
            _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
        ) async -> CKSyncEngine.RecordZoneChangeBatch? { nil }
    }

    private func group(_ name: String) -> CKOperationGroup {
        let group = CKOperationGroup()
        group.name = name
        return group
    }

    @Test func `R-403: the server's log has the group of each request, whichever way it was given`() async throws {
        let flags = ["--log-level", "debug", "--create-containers"]
        try await OperatorPlace.with(flags, keepsAssets: true) { place in
            let database = place.database()
            let (tap, body, sync) = (group("tap"), group("a \"name\"\nof two lines"), group("sync"))
            let (upload, download) = (group("upload"), group("download"))

            let operation = CKFetchRecordZonesOperation.fetchAllRecordZonesOperation()
            operation.group = tap
            await withCheckedContinuation { continuation in
                operation.completionBlock = { continuation.resume() }
                database.add(operation)
            }
            try await database.configuredWith(group: body) { database in
                _ = try await database.save(CKRecordZone(zoneName: "Notes"))
            }
            let record = CKRecord(
                recordType: "Note", recordID: CKRecord.ID(zoneID: CKRecordZone.ID(zoneName: "Notes")))
            let file = URL(fileURLWithPath: "\(place.directory.path)/file")
            try Data(repeating: 7, count: 300_000).write(to: file)
            record["file"] = CKAsset(fileURL: file)
            try await database.configuredWith(group: upload) { _ = try await $0.save(record) }
            try await database.configuredWith(group: download) { _ = try await $0.record(for: record.recordID) }

            let delegate = Delegate()
            var configuration = CKSyncEngine.Configuration(
                database: database, stateSerialization: nil, delegate: delegate)
            configuration.automaticallySync = false
            let engine = CKSyncEngine(configuration)
            try await engine.fetchChanges(.init(operationGroup: sync))
            _ = try await database.allRecordZones()
            withExtendedLifetime(delegate) {}

            // Requests are logged before they are answered, but another process reads the log.
            func written() -> [Substring] {
                place.server.lines("debug request")
            }
            try await eventually("the last request is in the log") {
                written().count { $0.contains("kind=fetch_zones") } == 2
            }
            let lines = written()
            func requests(of group: CKOperationGroup) -> [Substring] {
                lines.filter { $0.contains("group=\(group.operationGroupID)") }
            }
            #expect(requests(of: tap).count == 1)
            #expect(
                requests(of: tap).allSatisfy { $0.contains("kind=fetch_zones") && $0.contains("group_name=tap") })
            #expect(requests(of: body).map { $0.contains("kind=modify_zones") } == [true])
            #expect(requests(of: body).allSatisfy { $0.contains(#"group_name="a \"name\"\nof two lines""#) })
            func names(of group: CKOperationGroup) -> Set<Substring> {
                Set(requests(of: group).compactMap { $0.firstMatch(of: /kind=(\w+)/)?.1 })
            }
            #expect(names(of: upload) == ["prepare_asset_upload", "upload_asset_chunk", "modify_records"])
            #expect(names(of: download) == ["fetch_records", "fetch_asset_chunk"])
            #expect(requests(of: sync).contains { $0.contains("kind=fetch_database_changes") })
            #expect(lines.last?.contains("kind=fetch_zones") == true && lines.last?.contains(#"group="""#) == true)
        }
    }
}
