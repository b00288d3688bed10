// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkBytes
import TidemarkKit
import TidemarkPostgres
import TidemarkTLS
import TidemarkTestSupport
import TidemarkWire

/// Several server processes on one database.
@Suite struct ServersTests {
    private let notes = CKRecordZone.ID(zoneName: "Notes")

    @Test func `I-4: a save by way of one server is pushed to a device at the other`() async throws {
        try await ServerPair.with { pair in
            let (a, b) = (Device(pair.sites[0].makeContainer()), Device(pair.sites[1].makeContainer()))
            a.makeZone(notes)
            a.write("one", to: "n1", in: notes)
            try await eventually("the device at the other server has it") { b.texts == ["n1": "one"] }
            b.write("two", to: "n1", in: notes)
            try await eventually("and back") { a.texts == ["n1": "two"] }
        }
    }

    @Test func `R-157: a request that comes five times at two servers is carried out once`() async throws {
        try await ServerPair.with { pair in
            let database = pair.sites[0].makeContainer().privateCloudDatabase
            try await database.save(CKRecordZone(zoneID: notes))
            var clients: [RawClient] = []
            for index in 0..<5 {
                let site = pair.sites[index % 2]
                let client = try await RawClient(site)
                try client.send(.hello(site, device: 42))
                _ = try await client.answer(to: 1)
                clients.append(client)
            }
            let request = try makeSave(in: notes, id: 2).encoded as [UInt8]
            for client in clients { client.send(request) }
            var answers: [WireServerEnvelope] = []
            for client in clients { answers.append(try await client.answer(to: 2)) }
            let saves = answers.map { $0.modifyRecords.zones.first?.saves.first?.saved ?? WireSavedRecord() }
            #expect(!saves[0].tag.isEmpty)
            #expect(saves.allSatisfy { $0 == saves[0] })
            let page = try await database.recordZoneChanges(inZoneWith: notes, since: nil)
            #expect(page.modificationResultsByID.count == 1)
            for client in clients { client.disconnect() }
        }
    }

    @Test func `I-7: a server that is frozen between its two round trips does not keep its zones from the other`()
        async throws
    {
        try await ServerPair.with { pair in
            let database = pair.sites[1].makeContainer().privateCloudDatabase
            try await database.save(CKRecordZone(zoneID: notes))
            let frozen = pair.sites[0].makeContainer().privateCloudDatabase
            let root = CKRecord.ID(recordName: "root", zoneID: notes)
            try await frozen.save(CKRecord(recordType: "Note", recordID: root))
            let writers = (0..<20).map { index in
                Task {
                    for number in 0..<5_000 where !Task.isCancelled {
                        let id = CKRecord.ID(recordName: "w\(index)-\(number)", zoneID: self.notes)
                        let record = CKRecord(recordType: "Note", recordID: id)
                        // Of a parent the server always asks what is above it.
                        record.setParent(root)
                        try await frozen.save(record)
                    }
                }
            }
            try await eventually("the first server writes") {
                try await !database.recordZoneChanges(inZoneWith: notes, since: nil).modificationResultsByID.isEmpty
            }
            try await freezeBetweenRoundTrips(pair)
            let start = ContinuousClock.now
            try await eventually("the zone is free", within: .seconds(15)) {
                do {
                    let id = CKRecord.ID(recordName: "of the other", zoneID: notes)
                    try await database.save(CKRecord(recordType: "Note", recordID: id))
                    return true
                } catch let error as CKError where [.zoneBusy, .serviceUnavailable].contains(error.code) {
                    return false
                }
            }
            #expect(ContinuousClock.now - start < .seconds(12))
            for writer in writers { writer.cancel() }
            pair.first.signal(SIGCONT)
        }
    }

    /// Stops the first server at a moment when it holds a zone: a transaction of its waits for the second round trip.
    private func freezeBetweenRoundTrips(_ pair: ServerPair) async throws {
        let question = """
            DO $$ BEGIN
                IF NOT EXISTS (SELECT FROM pg_stat_activity WHERE application_name = 'server-0'
                    AND datname = current_database() AND state = 'idle in transaction'
                    AND state_change < clock_timestamp() - interval '20 milliseconds')
                THEN RAISE EXCEPTION 'not between'; END IF;
            END $$
            """
        let url = pair.databaseURL
        for _ in 0..<200 {
            pair.first.signal(SIGSTOP)
            // What was already sent is dealt with first.
            for _ in 0..<4 {
                try await Task.sleep(for: .milliseconds(10))
                let isBetween = try await blocking {
                    (try? PostgresAdministration.execute([question], url: url)) != nil
                }
                if isBetween { return }
            }
            pair.first.signal(SIGCONT)
            try await Task.sleep(for: .milliseconds(.random(in: 1...20)))
        }
        throw NeverHappened(description: "the server was never frozen between its round trips")
    }

    @Test func `R-354: revoking a credential cuts its connections with 4401, at every server, and no others`()
        async throws
    {
        try await ServerPair.with { pair in
            let token = try await pair.issue("alice")
            let (doomed, other) = (try await RawClient(pair.sites[0]), try await RawClient(pair.sites[0]))
            let elsewhere = try await RawClient(pair.sites[1])
            try doomed.send(.hello(pair.sites[0], token: token, device: 1))
            try elsewhere.send(.hello(pair.sites[1], token: token, device: 2))
            try other.send(.hello(pair.sites[0], "alice", device: 3))
            for client in [doomed, elsewhere, other] { _ = try await client.answer(to: 1) }
            let list = try await pair.admin("credentials", "list", "alice")
            let number = try #require(
                list.output.split(separator: "\n").dropFirst().compactMap { line in
                    line.split(separator: " ").first.flatMap { Int($0) }
                }.max())
            let revoked = try await pair.admin("credentials", "revoke", "\(number)")
            #expect(revoked.status == 0)
            try await eventually("both are cut") { doomed.isClosed && elsewhere.isClosed }
            #expect(doomed.closeCode == 4401 && elsewhere.closeCode == 4401)
            try other.send(.zones(id: 2))
            #expect(try await other.answer(to: 2).failure.code == .unspecified)
            let error = try await failure {
                try await pair.sites[0].makeContainer(token: token).privateCloudDatabase.allRecordZones()
            }
            #expect(error.code == .accountTemporarilyUnavailable)
        }
    }

    @Test func `R-354: a credential that has expired opens nothing`() async throws {
        try await ServerPair.with { pair in
            let token = try await pair.issue("alice", expires: "1s")
            try await eventually("it is refused") {
                let client = try await RawClient(pair.sites[0])
                try client.send(.hello(pair.sites[0], token: token))
                try await eventually("the answer") { client.isClosed || !client.answers.isEmpty }
                defer { client.disconnect() }
                guard client.answers.first?.failure.code == .notAuthenticated else { return false }
                try await eventually("it is closed") { client.isClosed }
                return client.closeCode == 4401
            }
        }
    }

    @Test func `certificates are read again on SIGHUP, and one for another host is not trusted`() async throws {
        try await ServerPair.with { pair in
            let site = pair.sites[0]
            _ = try await site.makeContainer().privateCloudDatabase.allRecordZones()
            _ = try DevelopmentCertificates(
                directory: pair.directory.path, hosts: ["elsewhere.test"], now: Int64(Date().timeIntervalSince1970))
            pair.first.signal(SIGHUP)
            try await eventually("the certificate was read") { pair.first.output.contains("certificates read again") }
            let error = try await failure {
                try await site.makeContainer().privateCloudDatabase.allRecordZones()
            }
            #expect(error.localizedDescription.contains("not trusted"))
        }
    }

    private func makeSave(in zoneID: CKRecordZone.ID, id: UInt64) throws -> WireClientEnvelope {
        var save = WireRecordSave()
        save.name = "n1"
        save.type = "Note"
        var zone = WireZoneModifications()
        zone.zone.name = zoneID.zoneName
        zone.saves = [save]
        var envelope = WireClientEnvelope()
        envelope.id = id
        envelope.modifyRecords.database = .private
        envelope.modifyRecords.stamp.counter = 1
        envelope.modifyRecords.stamp.lowestUnanswered = 1
        envelope.modifyRecords.zones = [zone]
        return envelope
    }
}
