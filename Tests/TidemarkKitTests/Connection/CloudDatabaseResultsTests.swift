// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkTestSupport
import TidemarkWire

@testable import TidemarkKit

/// Answers of a broken server, with items that have no result.
@Suite struct CloudDatabaseResultsTests {
    private let scheduler = ManualScheduler()
    private let server: ScriptedServer
    private let database: CKDatabase
    private let zoneID = CKRecordZone.ID(zoneName: "Notes")

    init() {
        server = ScriptedServer(scheduler)
        database = CKContainer.scripted(server, scheduler).privateCloudDatabase
        server.answer(Self.answer)
    }

    private static func answer(to envelope: WireClientEnvelope) -> WireServerEnvelope.OneOfAnswer? {
        switch envelope.request {
        case .modifyRecords(let request):
            var answer = WireModifyRecordsAnswer()
            answer.zones = request.zones.map { zone in
                var results = WireZoneModificationResults()
                results.saves = zone.saves.map { _ in WireSaveResult() }
                results.deletes = zone.deletes.map { _ in WireDeleteResult() }
                return results
            }
            return .modifyRecords(answer)
        case .modifyZones(let request):
            var answer = WireModifyZonesAnswer()
            answer.saves = request.saves.map { _ in WireZoneResult() }
            answer.deletes = request.deletes.map { _ in WireZoneResult() }
            return .modifyZones(answer)
        case .modifySubscriptions(let request):
            var answer = WireModifySubscriptionsAnswer()
            answer.saves = request.saves.map { _ in WireSubscriptionResult() }
            answer.deletes = request.deletes.map { _ in WireSubscriptionResult() }
            return .modifySubscriptions(answer)
        case .fetchZones:
            var answer = WireFetchZonesAnswer()
            answer.zones = [WireZoneResult()]
            return .fetchZones(answer)
        case .fetchSubscriptions:
            var answer = WireFetchSubscriptionsAnswer()
            answer.subscriptions = [WireSubscriptionResult()]
            return .fetchSubscriptions(answer)
        case .fetchRecords:
            var answer = WireFetchRecordsAnswer()
            (answer.results, answer.covered) = ([WireRecordResult()], 1)
            return .fetchRecords(answer)
        default: return nil
        }
    }

    private func code(_ work: @escaping @Sendable (CKDatabase) async throws -> Void) -> CKError.Code? {
        do {
            try scheduler.complete { [database] in try await work(database) }
            return nil
        } catch { return (error as? CKError)?.code }
    }

    @Test func `R-370: an item without a result was neither saved nor deleted nor found`() {
        let zoneID = zoneID
        let recordID = CKRecord.ID(recordName: "n", zoneID: zoneID)
        let changes: [@Sendable (CKDatabase) async throws -> Void] = [
            { _ = try await $0.save(CKRecord(recordType: "Note", recordID: recordID)) },
            { _ = try await $0.deleteRecord(withID: recordID) },
            { _ = try await $0.save(CKRecordZone(zoneID: zoneID)) },
            { _ = try await $0.deleteRecordZone(withID: zoneID) },
            { _ = try await $0.save(CKDatabaseSubscription(subscriptionID: "s")) },
            { _ = try await $0.deleteSubscription(withID: "s") },
        ]
        for (number, change) in changes.enumerated() {
            #expect(code(change) == .serverResponseLost, "\(number): it may have been carried out")
        }
        let fetches: [@Sendable (CKDatabase) async throws -> Void] = [
            { _ = try await $0.record(for: recordID) }, { _ = try await $0.recordZone(for: zoneID) },
            { _ = try await $0.allRecordZones() }, { _ = try await $0.subscription(for: "s") },
            { _ = try await $0.allSubscriptions() },
        ]
        for (number, fetch) in fetches.enumerated() {
            #expect(code(fetch) == .internalError, "\(number)")
        }
    }
}
