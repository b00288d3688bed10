// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import Testing
import TidemarkKit
import TidemarkLocalPostgres
import TidemarkTestSupport

/// What a server has acknowledged outlives it, and PostgreSQL's processes.
@Suite(.timeLimit(.minutes(10))) struct DurabilityTests {
    /// What writers tried to save, and what became of it.
    private final class Ledger: Sendable {
        private struct State {
            var tried: Set<String> = []
            var tags: [String: String] = [:]
            var surprises: [String] = []
        }

        private let state = Mutex(State())

        var tried: Set<String> { state.withLock { $0.tried } }
        /// Of what was acknowledged.
        var tags: [String: String] { state.withLock { $0.tags } }
        /// Errors after which a device would not try again.
        var surprises: [String] { state.withLock { $0.surprises } }

        func willSave(_ name: String) {
            state.withLock { _ = $0.tried.insert(name) }
        }

        func saved(_ record: CKRecord) {
            state.withLock { $0.tags[record.recordID.recordName] = record.recordChangeTag ?? "none" }
        }

        func failed(_ error: any Error) {
            let passing: [CKError.Code] = [
                .networkUnavailable, .networkFailure, .serviceUnavailable, .serverResponseLost, .zoneBusy,
                .operationCancelled,
            ]
            if let error = error as? CKError, passing.contains(error.code) { return }
            state.withLock { $0.surprises.append("\(error)") }
        }
    }

    private let zones = (0..<3).map { CKRecordZone.ID(zoneName: "Zone \($0)") }

    /// Saves one record after the other, each once, until it is cancelled.
    private func write(_ writer: Int, to database: CKDatabase, _ ledger: Ledger) async {
        var number = 0
        while !Task.isCancelled {
            number += 1
            let name = "\(writer)-\(number)"
            let id = CKRecord.ID(recordName: name, zoneID: zones[writer % zones.count])
            let record = CKRecord(recordType: "Note", recordID: id)
            record["text"] = name
            ledger.willSave(name)
            do {
                ledger.saved(try await database.save(record))
            } catch {
                ledger.failed(error)
            }
        }
    }

    @Test func `I-1: what is acknowledged is there, once, after PostgreSQL and the server were killed`() async throws {
        let directory = try TestDirectory()
        defer { directory.remove() }
        let postgres = try await blocking { try LocalPostgres.start(dataDirectory: directory.path, durability: .fast) }
        do {
            try await ServerPair.with(databaseURL: postgres.databaseURL("postgres")) { pair in
                let other = pair.sites[1].makeContainer().privateCloudDatabase
                for zoneID in zones { try await other.save(CKRecordZone(zoneID: zoneID)) }
                let ledger = Ledger()
                let writers = (0..<6).map { writer in
                    let database = pair.sites[0].makeContainer().privateCloudDatabase
                    return Task { await self.write(writer, to: database, ledger) }
                }
                try await eventually("records are saved") { ledger.tags.count >= 100 }

                let killed = postgres.processID
                kill(killed, SIGKILL)
                try await eventually("PostgreSQL runs again") { ![0, killed].contains(postgres.processID) }
                let before = ledger.tags.count
                try await eventually("records are saved again", within: .seconds(60)) {
                    ledger.tags.count >= before + 100
                }
                try await pair.first.killNow()
                for writer in writers { writer.cancel() }
                for writer in writers { await writer.value }

                let stored = try await records(in: other)
                #expect(ledger.tags.filter { stored[$0.key] != $0.value } == [:])
                #expect(Set(stored.keys).subtracting(ledger.tried) == [])
                #expect(ledger.surprises == [])
            }
        } catch {
            try await blocking { postgres.stop() }
            throw error
        }
        try await blocking { postgres.stop() }
    }

    /// The tags of all records by name; each is in one zone, and holds what was written.
    private func records(in database: CKDatabase) async throws -> [String: String] {
        var tags: [String: String] = [:]
        for zoneID in zones {
            var token: CKServerChangeToken?
            var moreComing = true
            while moreComing {
                let page = try await database.recordZoneChanges(inZoneWith: zoneID, since: token)
                for result in page.modificationResultsByID.values {
                    let record = try result.get().record
                    let name = record.recordID.recordName
                    #expect(tags.updateValue(record.recordChangeTag ?? "none", forKey: name) == nil, "\(name) twice")
                    #expect(record["text"] as? String == name)
                }
                (token, moreComing) = (page.changeToken, page.moreComing)
            }
        }
        return tags
    }
}
