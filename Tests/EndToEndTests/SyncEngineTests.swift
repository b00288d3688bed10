// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkKit
import TidemarkTestSupport

/// Engines on real connections to a real server.
@Suite struct SyncEngineTests {
    private let notes = CKRecordZone.ID(zoneName: "Notes")

    @Test func `R-508: what one device saves reaches the other's delegate by push`() async throws {
        let site = try await DevServer.shared()
        let (a, b) = (Device(site.makeContainer()), Device(site.makeContainer()))
        a.makeZone(notes)
        a.write("one", to: "n1", in: notes)
        try await eventually("b has the first text") { b.texts == ["n1": "one"] }
        b.write("two", to: "n1", in: notes)
        b.write("three", to: "n2", in: notes)
        try await eventually("a has both texts") { a.texts == ["n1": "two", "n2": "three"] }
        a.delete("n2", in: notes)
        try await eventually("b has one text left") { b.texts == ["n1": "two"] }
    }

    @Test func `R-501: two engines of one process on one database are two devices`() async throws {
        let container = try await DevServer.shared().makeContainer()
        let (a, b) = (Device(container), Device(container))
        a.makeZone(notes)
        a.write("one", to: "n1", in: notes)
        try await eventually("the other engine has the text") { b.texts == ["n1": "one"] }
    }

    @Test func `R-505: an engine in manual mode does nothing by itself`() async throws {
        let site = try await DevServer.shared()
        let (a, b) = (Device(site.makeContainer(), automatically: false), Device(site.makeContainer()))
        a.makeZone(notes)
        a.write("one", to: "n1", in: notes)
        // b's own save is a round trip during which a would have sent.
        b.makeZone(CKRecordZone.ID(zoneName: "Other"))
        b.write("mine", to: "m1", in: CKRecordZone.ID(zoneName: "Other"))
        try await eventually("b has sent") { b.heard.contains("sent records m1=mine") }
        #expect(a.engine?.state.pendingRecordZoneChanges.count == 1)
        #expect(a.texts == ["n1": "one"])
        try await a.engine?.sendChanges()
        try await a.engine?.fetchChanges()
        #expect(a.texts == ["n1": "one", "m1": "mine"])
        try await eventually("b has it") { b.texts == ["n1": "one", "m1": "mine"] }
    }

    @Test func `R-111, R-113: a conflict brings the server's, the client's and the ancestor's record`() async throws {
        let site = try await DevServer.shared()
        let database = site.makeContainer().privateCloudDatabase
        try await database.save(CKRecordZone(zoneID: notes))
        let id = CKRecord.ID(recordName: "n1", zoneID: notes)
        let record = CKRecord(recordType: "Note", recordID: id)
        record["text"] = "ancestor"
        let saved = try await database.save(record)
        let other = try await site.makeContainer().privateCloudDatabase.record(for: id)
        other["text"] = "server"
        try await database.save(other)
        saved["text"] = "client"
        let error = try await failure { try await database.save(saved) }
        #expect(error.code == .serverRecordChanged)
        #expect(error.serverRecord?["text"] as? String == "server")
        #expect(error.clientRecord?["text"] as? String == "client")
        #expect(error.ancestorRecord?["text"] as? String == "ancestor")
        #expect(error.ancestorRecord?.recordChangeTag != error.serverRecord?.recordChangeTag)
    }

    @Test func `R-586: both devices edit, the server's version reaches the loser as a failed save`() async throws {
        let site = try await DevServer.shared()
        let (a, b) = (
            Device(site.makeContainer(), automatically: false), Device(site.makeContainer(), automatically: false)
        )
        a.makeZone(notes)
        a.write("start", to: "n1", in: notes)
        try await a.engine?.sendChanges()
        try await b.engine?.fetchChanges()
        a.write("of a", to: "n1", in: notes)
        b.write("of b", to: "n1", in: notes)
        try await a.engine?.sendChanges()
        let error = try await failure { try await b.engine?.sendChanges() }
        #expect(error.code == .partialFailure)
        let failed = b.events.compactMap { event -> CKError? in
            guard case .sentRecordZoneChanges(let sent) = event else { return nil }
            return sent.failedRecordSaves.first?.error
        }
        #expect(failed.map(\.code) == [.serverRecordChanged])
        #expect(failed.first?.clientRecord?["text"] as? String == "of b")
        #expect(failed.first?.ancestorRecord?["text"] as? String == "start")
        #expect(b.texts == ["n1": "of a"])
    }

    @Test func `R-207: a deleted zone is an event on the other device`() async throws {
        let site = try await DevServer.shared()
        let (a, b) = (Device(site.makeContainer()), Device(site.makeContainer()))
        a.makeZone(notes)
        a.write("one", to: "n1", in: notes)
        try await eventually("b has the text") { b.texts == ["n1": "one"] }
        a.engine?.state.add(pendingDatabaseChanges: [.deleteZone(notes)])
        try await eventually("b hears of the deletion") {
            b.events.contains { event in
                guard case .fetchedDatabaseChanges(let changes) = event else { return false }
                return changes.deletions.map(\.zoneID) == [notes] && changes.deletions.first?.reason == .deleted
            }
        }
    }

    @Test func `I-1, I-2: engines go on where they were when the server comes back, with what was edited meanwhile`()
        async throws
    {
        let directory = try TestDirectory()
        defer { directory.remove() }
        let server = try await DevServer.start(in: directory)
        let site = server.site
        let (a, b) = (Device(site.makeContainer()), Device(site.makeContainer()))
        a.makeZone(notes)
        for index in 0..<20 { a.write("first \(index)", to: "n\(index)", in: notes) }
        try await eventually("b has all", of: a, b) { b.texts == a.texts }
        try await server.program.stop()
        for index in 0..<10 { a.write("of a \(index)", to: "n\(index)", in: notes) }
        for index in 10..<15 { b.write("of b \(index)", to: "n\(index)", in: notes) }
        // One app ends while there is no server, and starts again with its last state.
        b.quit()
        b.start()
        for index in 10..<15 { b.write("of b \(index)", to: "n\(index)", in: notes) }
        let again = try await DevServer.start(in: directory, port: site.port)
        #expect(again.site.url == site.url)
        #expect(again.site.tokens == site.tokens)
        try await eventually("both have all edits", of: a, b) {
            a.texts == b.texts && a.texts["n3"] == "of a 3" && a.texts["n12"] == "of b 12"
                && a.texts["n17"] == "first 17"
        }
        try await again.program.stop()
    }

    @Test func `R-006, R-568: without a credential an engine waits, and a call fails with notAuthenticated`()
        async throws
    {
        let site = try await DevServer.shared()
        let device = Device(site.makeContainer(token: ""), automatically: false)
        device.makeZone(notes)
        let error = try await failure { try await device.engine?.sendChanges() }
        #expect(error.code == .notAuthenticated)
        #expect(device.engine?.state.pendingDatabaseChanges.count == 1)
    }
}
