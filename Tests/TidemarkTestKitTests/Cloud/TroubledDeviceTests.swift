// SPDX-License-Identifier: Apache-2.0

import CloudKit
import Testing
import TidemarkTestKit

/// What a device's calls meet without a network. What fails at once does so although time stands
/// still; else the limit ends the test.
@Suite(.timeLimit(.minutes(2))) struct TroubledDeviceTests {
    private let cloud = TestCloud()
    private let phone: TestDevice
    private let database: CKDatabase

    init() async throws {
        phone = cloud.account("alice").device("phone")
        database = phone.container.privateCloudDatabase
        try await database.save(NotesDevice.zone)
    }

    private func note(_ name: String) -> CKRecord {
        CKRecord(recordType: "Note", recordID: NotesDevice.id(name))
    }

    // MARK: Offline

    @Test func `R-373, R-397: what is asked for after goOffline fails at once`() async throws {
        for round in 0..<20 {
            phone.goOffline()
            let error = await #expect(throws: CKError.self) { try await database.save(note("\(round)")) }
            #expect(error?.code == .networkUnavailable)
            phone.goOnline()
            try await database.save(note("\(round)"))
        }
        #expect(cloud.clock.elapsed < .seconds(10), "no more time than pauses")
    }

    @Test func `R-373, R-397: after goOffline calls fail at once, also of a connection that is just being cut or made`()
        async throws
    {
        for round in 0..<20 {
            if round.isMultiple(of: 2) { cloud.restartServer() } else { phone.cutConnections() }
            phone.goOffline()
            let error = await #expect(throws: CKError.self) { try await database.save(note("\(round)")) }
            #expect(error?.code == .networkUnavailable)
            phone.goOnline()
            phone.goOffline()
            let again = await #expect(throws: CKError.self) { try await database.save(note("\(round)")) }
            #expect(again?.code == .networkUnavailable)
            phone.goOnline()
        }
        try await database.save(note("last"))
    }

    @Test func `R-373: an engine's calls after goOffline fail at once, and what is pending stays so`() async throws {
        let notes = await NotesDevice(on: phone, automatically: false)
        try await notes.sync()
        for round in 0..<20 {
            phone.goOffline()
            await notes.write("\(round)", to: "n")
            let error = await #expect(throws: CKError.self) { try await notes.sync() }
            #expect(error?.code == .networkUnavailable)
            #expect(await notes.pendingCount == 1)
            phone.goOnline()
            try await notes.sync()
            #expect(await notes.pendingCount == 0)
        }
    }
}
