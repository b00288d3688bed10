// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkTestSupport
import TidemarkWire

@testable import TidemarkKit

/// What people read when a server's fault is met: which request or file it concerns, and what to do.
@Suite struct ConnectionFaultTests {
    private let scheduler = ManualScheduler()
    private static let zoneID = CKRecordZone.ID(zoneName: "Notes")

    private func container(_ server: ScriptedServer) -> CKContainer {
        CKContainer(
            context: CloudContext(
                containerIdentifier: "iCloud.test", token: "tm_secret", transport: server, scheduler: scheduler,
                engineScheduler: scheduler))
    }

    /// Each kind of request that an app makes, by what the protocol calls it.
    private static let requests: [(name: String, call: @Sendable (CKDatabase) async throws -> Void)] = [
        ("fetchZones", { _ = try await $0.allRecordZones() }),
        ("fetchZones", { _ = try await $0.recordZone(for: zoneID) }),
        ("modifyZones", { try await $0.save(CKRecordZone(zoneID: zoneID)) }),
        ("fetchRecords", { _ = try await $0.record(for: recordID("Notes/1")) }),
        ("modifyRecords", { try await $0.save(CKRecord(recordType: "Note", recordID: recordID("Notes/1"))) }),
        ("fetchDatabaseChanges", { _ = try await $0.databaseChanges(since: nil) }),
        ("fetchZoneChanges", { _ = try await $0.recordZoneChanges(inZoneWith: zoneID, since: nil) }),
        ("fetchSubscriptions", { _ = try await $0.allSubscriptions() }),
        ("modifySubscriptions", { try await $0.save(CKDatabaseSubscription(subscriptionID: "all")) }),
        (
            "queryRecords",
            { _ = try await $0.records(matching: CKQuery(recordType: "Note", predicate: NSPredicate(value: true))) }
        ),
        ("fetchShareMetadata", { _ = try await $0.container.shareMetadata(for: URL(fileURLWithPath: "/share/link")) }),
        ("acceptShares", { _ = try await $0.container.accept(.test(in: $0.container, link: "link")) }),
        (
            "requestShareAccess",
            { _ = try await $0.container.requestShareAccess(for: [URL(fileURLWithPath: "/share/link")]) }
        ),
        ("fetchShareParticipants", { _ = try await $0.container.shareParticipant(forEmailAddress: "a@example.org") }),
    ]

    @Test func `R-370: an answer that does not fit says to which request, and what to do`() {
        let server = ScriptedServer(scheduler)
        // An answer to something that nobody asked.
        server.answer { envelope in
            if case .hello = envelope.request { return nil }
            return .fetchAssetChunk(WireAssetChunk())
        }
        let database = container(server).privateCloudDatabase
        for (name, call) in Self.requests {
            let error = #expect(throws: CKError.self) { try scheduler.complete { try await call(database) } }
            let text = error?.localizedDescription ?? "nothing"
            // of a change nobody knows whether it was made.
            let isChange = name.hasPrefix("modify") || ["acceptShares", "requestShareAccess"].contains(name)
            #expect(error?.code == (isChange ? .serverResponseLost : .internalError), "\(name)")
            #expect(text.hasPrefix("The server's answer to \(name) does not fit the request."), "\(text)")
            #expect(text.contains("Tell its operator"), "\(text)")
            #expect(text.contains("Fetch changes, then send what is still needed") == isChange, "\(text)")
            #expect(!"\(String(describing: error))".contains("tm_secret"))
        }
    }

    @Test func `R-083, R-373: an upload that stands still says of which file, and holds up no other`() throws {
        let directory = try TestDirectory()
        defer { directory.remove() }
        let file = URL(fileURLWithPath: directory.path).appendingPathComponent("beach.jpg")
        try Data(count: 5_000).write(to: file)
        let error = CloudDatabase.uploadStands(
            try AssetFile(file), of: recordID("Trip/p1"), after: CKError(.networkFailure, text: "It was cut."))
        #expect(error.code == .networkFailure)
        let text = error.localizedDescription
        let start = "The upload of beach.jpg (5000 bytes) for record p1 in zone Trip stands still: 5 attempts"
        #expect(
            text.hasPrefix(start) && text.contains("The last one: It was cut. Save the record again later"), "\(text)")
        #expect(!text.contains(directory.path))
        // its record waits, and no other record waits for it.
        #expect(error.keepsChangePending)
        #expect(CloudDatabase.reason(of: [.success(1), .failure(error)]) == nil)
    }
}
