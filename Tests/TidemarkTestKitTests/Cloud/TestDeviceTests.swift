// SPDX-License-Identifier: Apache-2.0

import CloudKit
import Foundation
import Synchronization
import Testing
import TidemarkTestKit
import TidemarkTestSupport

/// What a device's calls meet without a network, while it is throttled, and while its credential is refused. What fails at
/// once does so although time stands still; else the limit ends the test.
@Suite(.timeLimit(.minutes(10))) struct TestDeviceTests {
    private let cloud = TestCloud()
    private let phone: TestDevice
    private let database: CKDatabase

    init() async throws {
        phone = cloud.account("alice").device("phone")
        database = phone.container.privateCloudDatabase
        try await database.save(NotesDevice.zone)
    }

    private func note(_ name: String, _ file: URL? = nil) -> CKRecord {
        let note = CKRecord(recordType: "Note", recordID: NotesDevice.id(name))
        if let file { note["file"] = CKAsset(fileURL: file) }
        return note
    }

    /// Files of these sizes, no two alike.
    private func withFiles(_ byteCounts: [Int], _ body: ([URL]) async throws -> Void) async throws {
        let directory = try TestDirectory()
        defer { directory.remove() }
        let files = byteCounts.indices.map { URL(fileURLWithPath: "\(directory.path)/\($0)") }
        for (file, byteCount) in zip(files, byteCounts) { try Data(count: byteCount).write(to: file) }
        try await body(files)
    }

    /// A save that is begun when this returns.
    private func begin(_ record: CKRecord, _ quality: QualityOfService) async throws -> CKModifyRecordsOperation {
        let operation = CKModifyRecordsOperation(recordsToSave: [record])
        operation.qualityOfService = quality
        database.add(operation)
        try await eventually { operation.isExecuting }
        try await cloud.settle()
        return operation
    }

    /// NB: what an operation does by itself is not under way in the cloud. Time may pass before it goes on.
    private func moveTime(untilFinished operation: CKOperation) async throws {
        try await eventually(within: .seconds(60)) {
            try await cloud.clock.advance(by: .seconds(50))
            return operation.isFinished
        }
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

    // MARK: Throttled

    @Test func `R-374: with assets too, calls of a throttled device fail at once with what is left`() async throws {
        try await withFiles([10, 300_000, 5_000_000]) { files in
            phone.throttle(for: .seconds(30))
            for file in files + [nil] {
                let error = await #expect(throws: CKError.self) { try await database.save(note("n", file)) }
                #expect(error?.code == .requestRateLimited)
                #expect((29...30).contains(error?.retryAfterSeconds ?? 0))
            }
        }
    }

    @Test func `R-070, R-374: an upload that is under way when its device is throttled waits as long, and goes on`()
        async throws
    {
        try await withFiles([2_000_000]) { files in
            let isUnderWay = Mutex(false)
            let outcome = Mutex<Result<Void, any Error>?>(nil)
            let operation = CKModifyRecordsOperation(recordsToSave: [note("n", files[0])])
            operation.perRecordProgressBlock = { [phone] _, _ in
                let isFirst = isUnderWay.withLock { isUnderWay in
                    defer { isUnderWay = true }
                    return !isUnderWay
                }
                if isFirst { phone.throttle(for: .seconds(30)) }
            }
            operation.perRecordSaveBlock = { _, result in outcome.withLock { $0 = result.map { _ in } } }
            operation.modifyRecordsResultBlock = { result in
                outcome.withLock { if case .failure = result { $0 = result } }
            }
            database.add(operation)
            try await eventually { isUnderWay.withLock { $0 } }
            try await moveTime(untilFinished: operation)
            try outcome.withLock { $0 }?.get()
            #expect(cloud.clock.elapsed >= .seconds(30))
            #expect(try await database.record(for: NotesDevice.id("n"))["file"] is CKAsset)
        }
    }

    // MARK: Not urgent

    @Test(arguments: [0, 10, 300_000])
    func `R-397: with assets too, what is not urgent waits for the network, and until it is not throttled`(
        byteCount: Int
    ) async throws {
        try await withFiles([byteCount]) { files in
            let file = byteCount == 0 ? nil : files[0]
            phone.goOffline()
            let waiting = try await begin(note("offline", file), .utility)
            for _ in 0..<5 { try await cloud.clock.advance(by: .seconds(200)) }
            #expect(!waiting.isFinished)
            phone.goOnline()
            try await moveTime(untilFinished: waiting)
            #expect(try await database.record(for: NotesDevice.id("offline")).recordChangeTag != nil)

            phone.throttle(for: .seconds(1_000))
            let silent = try await begin(note("throttled", file), .background)
            for _ in 0..<4 { try await cloud.clock.advance(by: .seconds(200)) }
            #expect(!silent.isFinished)
            try await moveTime(untilFinished: silent)
            #expect(try await database.record(for: NotesDevice.id("throttled")).recordChangeTag != nil)
        }
    }

    // MARK: Refused

    @Test func `R-352: while the credential is refused all calls fail with accountTemporarilyUnavailable`()
        async throws
    {
        let alice = cloud.account("alice")
        try await withFiles([10]) { files in
            let secret = note("secret")
            secret.encryptedValues["text"] = "milk"
            alice.suspend()
            try await cloud.settle()
            var codes: [CKError.Code?] = []
            for record in [note("plain"), note("asset", files[0]), secret] {
                let error = await #expect(throws: CKError.self) {
                    try await database.modifyRecords(saving: [record], deleting: [])
                }
                codes.append(error?.code)
            }
            let other = await #expect(throws: CKError.self) { try await phone.container.userRecordID() }
            codes.append(other?.code)
            #expect(codes == Array(repeating: .accountTemporarilyUnavailable, count: 4))
            #expect(try await phone.container.accountStatus() == .temporarilyUnavailable)

            alice.resume()
            try await cloud.settle()
            try await database.save(secret)
            phone.signOut()
            let nobody = await #expect(throws: CKError.self) { try await database.allRecordZones() }
            #expect(nobody?.code == .notAuthenticated)
        }
    }
}
