// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkTestSupport
import TidemarkWire

@testable import TidemarkKit

/// Which request failed, as an app sees it.
@Suite struct CKErrorRequestUUIDTests {
    private let scheduler = ManualScheduler()
    private let server: ScriptedServer
    private let database: CKDatabase
    private static let zoneID = CKRecordZone.ID(zoneName: "Notes")

    init() {
        server = ScriptedServer(scheduler)
        database = CKContainer.scripted(server, scheduler).privateCloudDatabase
        server.answer { envelope in
            guard case .hello = envelope.request else { return nil }
            var answer = WireHelloAnswer()
            (answer.userRecordName, answer.memoryEpoch) = ("_alice", 1)
            answer.requestSession = [0x8A, 1, 2, 3, 4, 5, 6, 7]
            return .hello(answer)
        }
    }

    private func error(_ work: @escaping @Sendable (CKDatabase) async throws -> Void) throws -> CKError {
        do {
            try scheduler.complete { [database] in try await work(database) }
        } catch { return try #require(error as? CKError) }
        throw CKError(.internalError, message: "nothing failed")
    }

    /// Of the request that came last.
    private var uuid: String {
        let id = String(server.envelopes.last?.id ?? 0, radix: 16, uppercase: true)
        return "8A010203-0405-8607-8000-" + String(repeating: "0", count: 12 - id.count) + id
    }

    private func expect(_ error: CKError, _ code: CKError.Code) {
        #expect(error.code == code && error.requestUUID?.uuidString == uuid, "\(error) is not of \(uuid)")
        #expect(error.userInfo[TidemarkErrorRequestUUIDKey] as? String == uuid)
        #expect(error.userInfo["RequestUUID"] as? String == uuid)
        #expect(error.localizedDescription.hasSuffix(" (request UUID \(uuid))"))
        #expect((error as any Error).localizedDescription.hasSuffix(" (request UUID \(uuid))"))
        #expect("\(error)".contains("(request UUID \(uuid))"))
    }

    @Test func `R-820: a refused request names itself in userInfo and in its text`() throws {
        expect(try error { _ = try await $0.allRecordZones() }, .internalError)
    }

    @Test func `R-820: the errors of items and the error of all name the request`() throws {
        let records = ["a", "b"].map { name in
            CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: name, zoneID: Self.zoneID))
        }
        let whole = try error { _ = try await $0.modifyRecords(saving: records, deleting: []) }
        expect(whole, .partialFailure)
        for record in records {
            expect(try #require(whole.partialErrorsByItemID?[record.recordID] as? CKError), .zoneNotFound)
        }
        #expect(CKError(following: whole).localizedDescription.components(separatedBy: "request UUID").count == 2)
    }

    @Test func `R-820: what failed in several requests has no UUID, and neither has what got no answer`() {
        let (first, second) = ("8A010203-0405-8607-8000-000000000001", "8A010203-0405-8607-8000-000000000002")
        func item(_ uuid: String?) -> CKError {
            CKError(.zoneBusy, userInfo: uuid.map { [TidemarkErrorRequestUUIDKey: $0] } ?? [:])
        }
        func whole(_ uuids: [String?]) -> UUID? {
            let items = uuids.enumerated().map { (AnyHashable("\($0)"), item($1) as any Error) }
            return CKError(partialErrors: Dictionary(uniqueKeysWithValues: items)).requestUUID
        }
        #expect(whole([first, first])?.uuidString == first)
        #expect(
            whole([first, second]) == nil && whole([first, nil]) == nil && whole([nil]) == nil && whole([]) == nil)
        #expect(!item(nil).localizedDescription.contains("UUID"))
        // An error that is made of another one has one UUID in its text.
        let again = CKError(.zoneBusy, userInfo: item(first).userInfo)
        #expect(again == item(first))
    }
}

extension CKError {
    /// As an engine or a database makes an error from another one.
    fileprivate init(following cause: CKError) {
        self.init(cause.code, message: cause.localizedDescription, userInfo: cause.userInfo)
    }
}
